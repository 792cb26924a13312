//===- KeyTiles.cpp - Which tiles of keys are read ------------------------===//
//
// The mask describes keys as segments that all, some or none of the queries
// see. from() asks for the segment at the first key of a tile. If no query sees
// the segment, it goes on to the tile in which the segment ends, and asks
// again. A tile is full if all queries see a segment that covers it: then no
// pair needs a question to the mask. Tiles begin at multiples of their size
// whatever the mask skips.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/KeyTiles.h"
#include "dialect/masks/MaskRanges.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

static Value withIndex(Value value, BlockCode &code,
                       function_ref<Value(Value)> ofI32) {
  if (!value.getType().isIndex())
    return ofI32(value);
  return code.toIndex(ofI32(code.toI32(value)));
}

Value Positions::at(Value number, BlockCode &code) const {
  if (stride == 1)
    return number;
  return withIndex(number, code, [&](Value value) {
    return code.add(code.mul(value, stride), remainder);
  });
}

Value Positions::before(Value position, BlockCode &code) const {
  if (stride == 1)
    return position;
  return withIndex(position, code, [&](Value value) {
    Value past = code.sub(value, remainder);
    Value count = code.udiv(code.add(past, stride - 1), stride);
    return code.select(code.uless(value, remainder), code.i32(0), count);
  });
}

bool heddle::hasFewRanges(Value mask) {
  if (!mask)
    return true;
  Region scratch;
  OpBuilder builder(mask.getContext());
  Location loc = mask.getLoc();
  SmallVector<Type> types(5, builder.getIndexType());
  Block *block =
      builder.createBlock(&scratch, {}, types, SmallVector<Location>(5, loc));
  QueryBlock asked = {block->getArgument(0), block->getArgument(1),
                      block->getArgument(2), block->getArgument(3),
                      block->getArgument(4)};
  std::optional<SmallVector<KeyRange>> ranges =
      keyRangesOf(builder, loc, asked, mask);
  return ranges && ranges->size() <= 2;
}

KeyTiles::KeyTiles(Value mask, const QueryBlock &block, Value firstKey,
                   int64_t size, BlockCode &code, const Positions &positions)
    : size(size), mask(mask), block(block), firstKey(firstKey), code(code),
      positions(positions), end(positions.before(block.keyCount, code)) {
  // Ranges in closed form are written once, in front of all loops.
  if (mask)
    keyRangesOf(code.builder, code.loc, block, mask);
}

Value KeyTiles::floorOf(Value key) {
  Value past = code.urem(key, size);
  return code.sub(key, past);
}

KeyTile KeyTiles::from(Value first) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  IndexMath math = {builder, loc};
  auto isWhole = [&](Value begin, Value end) {
    return code.logicalAnd(math.lessOrEqual(firstKey, begin),
                           math.lessOrEqual(math.add(begin, size), end));
  };
  if (!mask)
    return {first, isWhole(first, end)};
  Value no = code.i1(false);
  Value yes = code.i1(true);
  SmallVector<Value> initial = {first, yes, no};
  auto before = [&](OpBuilder &, Location, ValueRange now) {
    Value isLeft = code.logicalAnd(math.less(now[0], end), now[1]);
    scf::ConditionOp::create(builder, loc, isLeft, now);
  };
  // Over a segment that nobody sees; keys behind it may be in its last tile.
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    Value begin = now[0];
    KeySegment segment =
        segmentAt(builder, loc, block, mask,
                  positions.at(math.max(begin, firstKey), code));
    auto covers = [&](Cover cover) -> Value {
      return code.equal(segment.cover, code.index(cover));
    };
    Value until = math.min(positions.before(segment.end, code), end);
    Value stop = code.select(math.lessOrEqual(end, until), end, floorOf(until));
    Value isSkipped = code.logicalAnd(covers(kNone), math.less(begin, stop));
    SmallVector<Value> next = {
        code.select(isSkipped, stop, begin), isSkipped,
        code.logicalAnd(covers(kAll), isWhole(begin, until))};
    scf::YieldOp::create(builder, loc, next);
  };
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(initial).getTypes(),
                                   initial, before, step);
  return {loop.getResult(0), loop.getResult(2)};
}
