//===- RandomMasks.cpp - Masks of blocks and keys that are drawn ----------===//
//
// What Masks.td states: parts of the blocks of a sentence, of which each gives
// one. So the drawn ones ascend, none is drawn twice, and whether a block is
// one of them follows from its own part.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "dialect/masks/MaskRanges.h"

using namespace mlir;
using namespace heddle;

template <typename Op> static LogicalResult verifySeed(Op op) {
  if (int64_t seed = op.getSeedAttr().getInt();
      seed < 0 || seed > int64_t(UINT32_MAX))
    return op.emitOpError("expects a seed from 0 to ")
           << UINT32_MAX << ", found " << seed;
  return success();
}
// mask_random_blocks_c1
LogicalResult MaskRandomBlocksOp::verify() { return verifySeed(*this); }
// mask_random_tokens_c1
LogicalResult MaskRandomTokensOp::verify() { return verifySeed(*this); }

/// MurmurHash3's finaliser.
static Value mix(Lanes &lanes, Value x) {
  auto fold = [&](int32_t bits) {
    x = lanes.bitXor(x, lanes.shiftRight(x, bits));
  };
  auto multiply = [&](uint32_t factor) {
    x = lanes.mul(x, lanes.i32(int32_t(factor)));
  };
  fold(16);
  multiply(0x85ebca6b);
  fold(13);
  multiply(0xc2b2ae35);
  fold(16);
  return x;
}

namespace {
/// What is drawn from `total` blocks for one block of queries. All values are
/// i32 or lanes of i32.
class Draw {
public:
  /// Block `number` of queries of head h.
  Draw(Lanes &lanes, Value h, Value number, Value total, int64_t count,
       int64_t seed)
      : lanes(lanes), total(total), size(lanes.i32(int32_t(count))) {
    Value start = mix(lanes, lanes.i32(int32_t(uint32_t(seed))));
    stream = mix(lanes, lanes.add(h, start));
    stream = mix(lanes, lanes.add(number, stream));
    quotient = lanes.udiv(total, size);
    rest = lanes.sub(total, lanes.mul(quotient, size));
  }

  Value first(Value part) {
    return lanes.add(lanes.mul(part, quotient), lanes.min(part, rest));
  }
  /// What a part gives, if it has blocks.
  Value block(Value part) {
    Value drawn = mix(lanes, lanes.add(part, stream));
    return lanes.add(first(part), lanes.umulHigh(drawn, sizeOf(part)));
  }
  /// The part of a block below the total.
  Value partOf(Value block) {
    Value one = lanes.i32(1);
    Value longer = lanes.add(quotient, one);
    Value border = lanes.mul(rest, longer);
    Value behind =
        lanes.udiv(lanes.sub(block, border), lanes.max(quotient, one));
    return lanes.select(lanes.less(block, border), lanes.udiv(block, longer),
                        lanes.add(rest, behind));
  }
  Value isDrawn(Value at) {
    return lanes.logicalAnd(lanes.less(at, total),
                            lanes.equal(block(partOf(at)), at));
  }
  Value hasBlocks(Value part) { return lanes.less(lanes.i32(0), sizeOf(part)); }

private:
  Value sizeOf(Value part) {
    Value one = lanes.i32(1), none = lanes.i32(0);
    return lanes.add(quotient, lanes.select(lanes.less(part, rest), one, none));
  }

  Lanes &lanes;
  Value total, size, stream, quotient, rest;
};
} // namespace

/// From how many blocks block `number` of queries draws.
template <typename Op>
static Value totalOf(Op op, Lanes &lanes, Value b, Value number, int64_t size) {
  if (!op.getLengths())
    return number;
  Value length = lanes.load(op.getLengths(), b);
  Value above = lanes.add(length, lanes.i32(int32_t(size - 1)));
  return lanes.udiv(above, lanes.i32(int32_t(size)));
}

template <typename Op> static SmallVector<Value> lengthsOf(Op op) {
  if (op.getLengths())
    return {op.getLengths()};
  return {};
}

//===----------------------------------------------------------------------===//
// random_blocks
//===----------------------------------------------------------------------===//

static Draw drawOf(MaskRandomBlocksOp op, Lanes &lanes, Value b, Value h,
                   Value number) {
  return Draw(lanes, h, number, totalOf(op, lanes, b, number, op.getBlock()),
              op.getCount(), op.getSeed());
}

Value MaskRandomBlocksOp::contains(Lanes &lanes, const MaskPoint &point) {
  Value size = lanes.i32(int32_t(getBlock()));
  Value number = lanes.udiv(point.i, size);
  return drawOf(*this, lanes, point.b, point.h, number)
      .isDrawn(lanes.udiv(point.j, size));
}

KeyRanges MaskRandomBlocksOp::keyRanges(OpBuilder &, Location,
                                        const QueryBlock &) {
  return std::nullopt;
}

KeySegment MaskRandomBlocksOp::segmentAt(OpBuilder &builder, Location loc,
                                         const QueryBlock &block, Value key) {
  IndexMath math{builder, loc};
  Lanes lanes(builder, loc);
  int64_t size = getBlock();
  Value here = math.toI32(math.udiv(key, size)), one = lanes.i32(1);
  Value b = math.toI32(block.b), h = math.toI32(block.h);
  return math.overBlocks(block, size, [&](Value row) {
    Value number = math.toI32(row);
    Draw draw = drawOf(*this, lanes, b, h, number);
    Value part = draw.partOf(here), drawn = draw.block(part);
    Value exists = lanes.less(here, totalOf(*this, lanes, b, number, size));
    Value isHere = lanes.logicalAnd(exists, lanes.equal(drawn, here));
    // The drawn block of this part, or the next part.
    Value next = lanes.select(lanes.less(here, drawn), drawn,
                              draw.first(lanes.add(part, one)));
    next = lanes.select(isHere, lanes.add(here, one), next);
    Value end = math.mul(math.toIndex(next), size);
    end = math.select(exists, math.min(end, block.keyCount), block.keyCount);
    return KeySegment{math.select(isHere, math.index(kAll), math.index(kNone)),
                      end};
  });
}

SmallVector<Value> MaskRandomBlocksOp::operandsOfSentences() {
  return lengthsOf(*this);
}
Reach MaskRandomBlocksOp::reach() {
  if (getLengths())
    return {};
  // Blocks before the query's own.
  return {std::nullopt, 0};
}
bool MaskRandomBlocksOp::containsBand(Reach) { return false; }

//===----------------------------------------------------------------------===//
// random_tokens
//===----------------------------------------------------------------------===//

static Draw drawOf(MaskRandomTokensOp op, Lanes &lanes,
                   const MaskPoint &point) {
  return Draw(lanes, point.h, point.i,
              totalOf(op, lanes, point.b, point.i, /*size=*/1), op.getCount(),
              op.getSeed());
}

Value MaskRandomTokensOp::contains(Lanes &lanes, const MaskPoint &point) {
  return drawOf(*this, lanes, point).isDrawn(point.j);
}
KeyRanges MaskRandomTokensOp::keyRanges(OpBuilder &builder, Location loc,
                                        const QueryBlock &block) {
  return {{wholeRange(builder, loc, block)}};
}
Value MaskRandomTokensOp::listSize(Lanes &lanes, const MaskPoint &) {
  return lanes.i32(int32_t(getCount()));
}
Value MaskRandomTokensOp::listedKey(Lanes &lanes, const MaskPoint &point,
                                    Value at) {
  Draw draw = drawOf(*this, lanes, point);
  return lanes.select(draw.hasBlocks(at), draw.block(at), lanes.i32(-1));
}
SmallVector<Value> MaskRandomTokensOp::operandsOfSentences() {
  return lengthsOf(*this);
}
Reach MaskRandomTokensOp::reach() {
  if (getLengths())
    return {};
  return {std::nullopt, 0};
}
bool MaskRandomTokensOp::containsBand(Reach) { return false; }
