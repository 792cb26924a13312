//===- SeenPairs.cpp - Which pairs of a tile are in the mask --------------===//
//
// A thread asks the mask for ranges or segments of keys, as the walk over tiles
// does, but for a single query: a row of a tile has few of them, and the bits
// of one that the query sees as a whole are written at once. Pairs are asked
// for one by one only if the mask knows no more than that the query may see
// their keys.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/SeenPairs.h"
#include "dialect/masks/MaskAlgebra.h"
#include "dialect/masks/MaskRanges.h"
#include "lib/CodeGen/DeviceKernel.h"
#include "lib/Kernels/Gpu/Attention/QueryFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Heads of at most this width leave registers for the ranges of a row beside
/// more than two ranges of a tile.
static constexpr int64_t kWidestOfManyRanges = 64;

static Value i64(int64_t value, BlockCode &code) {
  return arith::ConstantIntOp::create(code.builder, code.loc, value, 64);
}
static Value toI64(Value value, BlockCode &code) {
  return arith::ExtUIOp::create(code.builder, code.loc,
                                code.builder.getI64Type(), value);
}
/// bits << count, an i32 below 64.
static Value shift(Value bits, Value count, BlockCode &code) {
  return arith::ShLIOp::create(code.builder, code.loc, bits,
                               toI64(count, code));
}

int64_t SeenPairs::pairsOfRow() const { return keys / kFragmentColumns * 2; }

/// The lane's first key of a tile. It has two neighbours of each eight keys.
Value SeenPairs::firstKey(Value first) {
  return code.add(first, code.mul(code.urem(code.lane(), 4), 2));
}

/// The bits of a row's pairs whose keys stand before `key`, an i32 that may lie
/// outside of the tile.
Value SeenPairs::bitsBefore(Value key, Value first) {
  Value past = code.max(code.sub(key, firstKey(first)), code.i32(0));
  Value pairs =
      code.add(code.mul(code.udiv(past, kFragmentColumns), 2),
               code.umin(code.urem(past, kFragmentColumns), code.i32(2)));
  pairs = code.umin(pairs, code.i32(pairsOfRow()));
  Value one = i64(1, code);
  return code.sub(shift(one, pairs, code), one);
}

/// Those of the keys [begin, end), positions of type index; none if it is
/// empty.
Value SeenPairs::bitsOf(Value begin, Value end, Value first) {
  IndexMath math(code.builder, code.loc);
  Value keyCount = block.keyPositions(op, code);
  auto before = [&](Value position) {
    Value key = code.toI32(math.clamp(position, keyCount));
    return bitsBefore(block.positions.before(key, code), first);
  };
  Value behind = code.bitXor(before(begin), i64(-1, code));
  return code.bitAnd(before(end), behind);
}

SeenPairs::Bits SeenPairs::ofRanges(ArrayRef<KeyRange> ranges, Value first) {
  Value none = i64(0, code);
  Bits bits = {none, none};
  for (const KeyRange &range : ranges) {
    bits.some = code.bitOr(bits.some, bitsOf(range.begin, range.end, first));
    bits.all =
        code.bitOr(bits.all, bitsOf(range.fullBegin, range.fullEnd, first));
  }
  bits.some = code.bitAnd(bits.some, code.bitXor(bits.all, i64(-1, code)));
  return bits;
}

SeenPairs::Bits SeenPairs::ofSegments(const QueryBlock &row, Value part,
                                      Value first) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  // By number; segments end at positions.
  Value end = code.umin(code.add(first, keys), block.keyCount);
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(builder, loc, code.uless(now[0], end), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    Value key = code.toIndex(block.positions.at(now[0], code));
    KeySegment segment = segmentAt(builder, loc, row, part, key);
    Value found = bitsOf(key, segment.end, first);
    auto added = [&](Value bits, Cover cover) {
      Value covers = code.equal(segment.cover, code.index(cover));
      return code.select(covers, code.bitOr(bits, found), bits);
    };
    // Lists that nobody has checked may end a segment where it begins.
    Value next = code.max(block.positions.before(code.toI32(segment.end), code),
                          code.add(now[0], 1));
    scf::YieldOp::create(
        builder, loc,
        ValueRange{next, added(now[1], kAll), added(now[2], kSome)});
  };
  SmallVector<Value> initial = {first, i64(0, code), i64(0, code)};
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(initial).getTypes(),
                                   initial, isLeft, step);
  return {loop.getResult(1), loop.getResult(2)};
}

/// What the mask says of a row. Unions and intersections are made of bits:
/// registers hold what one mask says at a time.
SeenPairs::Bits SeenPairs::ofMask(const QueryBlock &row, Value first) {
  Value every = i64(-1, code);
  auto both = [&](Bits lhs, Bits rhs) -> Bits {
    Value all = code.bitAnd(lhs.all, rhs.all);
    Value some = code.bitAnd(code.bitOr(lhs.all, lhs.some),
                             code.bitOr(rhs.all, rhs.some));
    return {all, code.bitXor(some, all)};
  };
  auto either = [&](Bits lhs, Bits rhs) -> Bits {
    Value all = code.bitOr(lhs.all, rhs.all);
    Value some = code.bitOr(lhs.some, rhs.some);
    return {all, code.bitAnd(some, code.bitXor(all, every))};
  };
  auto leaf = [&](MaskOpInterface op) -> Bits {
    Value part = op->getResult(0);
    if (auto ranges = keyRangesOf(code.builder, code.loc, row, part))
      return ofRanges(*ranges, first);
    return ofSegments(row, part, first);
  };
  return MaskAlgebra<Bits>(both, either, leaf).ask(mask);
}

/// Those of the bits `some` for which the mask's predicate holds.
Value SeenPairs::ofPairs(Value some, Value position, Value first) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Value none = i64(0, code), one = i64(1, code);
  auto isLeft = [&](OpBuilder &, Location, ValueRange now) {
    scf::ConditionOp::create(builder, loc, code.notEqual(now[0], none), now);
  };
  auto step = [&](OpBuilder &, Location, ValueRange now) {
    Value zeros = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value pair =
        arith::TruncIOp::create(builder, loc, builder.getI32Type(), zeros);
    Value key =
        code.add(firstKey(first),
                 code.add(code.mul(code.udiv(pair, 2), kFragmentColumns),
                          code.urem(pair, 2)));
    Lanes lanes(builder, loc);
    Value isSeen = lanes.contains(mask, {block.sentence, block.head, position,
                                         block.positions.at(key, code)});
    Value bit = shift(code.select(isSeen, one, none), pair, code);
    Value rest = code.bitAnd(now[0], code.sub(now[0], one));
    scf::YieldOp::create(builder, loc,
                         ValueRange{rest, code.bitOr(now[1], bit)});
  };
  SmallVector<Value> initial = {some, none};
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(initial).getTypes(),
                                   initial, isLeft, step);
  return loop.getResult(1);
}

/// The bits of a row. Rows behind the last query have the bits of its row.
Value SeenPairs::ofRow(Value row, Value first) {
  Value query = code.umin(row, code.sub(block.queryCount, code.i32(1)));
  Value position = block.positions.at(query, code);
  QueryBlock asked = {
      code.toIndex(block.sentence), code.toIndex(block.head),
      code.toIndex(position),       code.toIndex(code.add(position, 1)),
      block.keyPositions(op, code), block.positions.stride};
  // The walk over tiles keeps its ranges in registers. Beside many of them and
  // the sums of a wide head there are none left for those of a row.
  bool isCrowded = !hasFewRanges(mask) &&
                   AttentionOp(op).getValueWidth() > kWidestOfManyRanges;
  Bits bits = isCrowded ? Bits{i64(0, code), bitsBefore(block.keyCount, first)}
                        : ofMask(asked, first);
  return code.bitOr(bits.all, ofPairs(bits.some, position, first));
}

Value SeenPairs::find(Value first) {
  Value seen = i64(0, code);
  if (!mask) {
    // Keys that do not exist are missing from every row.
    Value bits = bitsBefore(block.keyCount, first);
    for (int64_t number = 0; number < rows; ++number)
      seen =
          code.bitOr(seen, shift(bits, code.i32(number * pairsOfRow()), code));
    return seen;
  }
  auto loop = scf::ForOp::create(
      code.builder, code.loc, code.i32(0), code.i32(rows), code.i32(1), seen,
      [&](OpBuilder &, Location, Value number, ValueRange bits) {
        Value row = code.add(firstRow, code.mul(number, kFragmentRows / 2));
        Value place = code.mul(number, pairsOfRow());
        Value mine = shift(ofRow(row, first), place, code);
        scf::YieldOp::create(code.builder, code.loc, code.bitOr(bits[0], mine));
      });
  // Registers have no room for what several rows ask at once.
  keepLoop(loop);
  return loop.getResult(0);
}
