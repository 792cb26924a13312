//===- MaskRanges.cpp - Ranges and segments of keys -----------------------===//
//
// A mask in closed form has a few ranges of keys, and the intersection of two
// masks is all pairs of their ranges. Any other mask says, for one key, up to
// where the next keys are seen alike: a segment. Segments combine by their
// cover. If a mask alone decides the result (it sees nothing in an
// intersection, or everything in a union), its segment counts up to its end;
// otherwise the nearer end of the two counts.
//
// Ranges and segments that are in the code already are used again: masks are
// graphs, and a shared part would be written once for each path to it.
//
//===----------------------------------------------------------------------===//

#include "dialect/masks/MaskRanges.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

Value IndexMath::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value IndexMath::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}
Value IndexMath::add(Value lhs, int64_t rhs) { return add(lhs, constant(rhs)); }
Value IndexMath::sub(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}
Value IndexMath::mul(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
}
Value IndexMath::min(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}
Value IndexMath::max(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
}
Value IndexMath::clamp(Value value, Value limit) {
  return max(constant(0), min(value, limit));
}
Value IndexMath::less(Value lhs, Value rhs) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                             lhs, rhs);
}
Value IndexMath::lessOrEqual(Value lhs, Value rhs) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle,
                                             lhs, rhs);
}
Value IndexMath::choose(Value condition, Value then, Value otherwise) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, then, otherwise);
}

Value IndexMath::divide(Value value, int64_t divisor) {
  return builder.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
}
Value IndexMath::toI32(Value value) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  value);
}
Value IndexMath::toIndex(Value value) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  value);
}
Value IndexMath::load(Value table, ValueRange at) {
  Value element =
      isa<MemRefType>(table.getType())
          ? memref::LoadOp::create(builder, loc, table, at).getResult()
          : builder.createOrFold<tensor::ExtractOp>(loc, table, at);
  return toIndex(element);
}

KeyRanges IndexMath::intersect(const KeyRanges &lhs, const KeyRanges &rhs) {
  if (!lhs || !rhs || lhs->size() * rhs->size() > kMaxKeyRanges)
    return std::nullopt;
  SmallVector<KeyRange> result;
  for (const KeyRange &l : *lhs)
    for (const KeyRange &r : *rhs)
      result.push_back({max(l.begin, r.begin), min(l.end, r.end),
                        max(l.fullBegin, r.fullBegin),
                        min(l.fullEnd, r.fullEnd)});
  return result;
}

KeySegment IndexMath::combine(const KeySegment &lhs, const KeySegment &rhs,
                              Value cover, Cover deciding) {
  auto decides = [&](Value which) {
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                               which, constant(deciding));
  };
  Value none = constant(0);
  Value furthest = max(choose(decides(lhs.cover), lhs.end, none),
                       choose(decides(rhs.cover), rhs.end, none));
  return {cover, choose(decides(cover), furthest, min(lhs.end, rhs.end))};
}

KeySegment IndexMath::intersect(const KeySegment &lhs, const KeySegment &rhs) {
  return combine(lhs, rhs, min(lhs.cover, rhs.cover), kNone);
}

KeySegment IndexMath::unite(const KeySegment &lhs, const KeySegment &rhs) {
  return combine(lhs, rhs, max(lhs.cover, rhs.cover), kAll);
}

KeySegment IndexMath::overBlocks(const QueryBlock &queries, int64_t size,
                                 function_ref<KeySegment(Value)> segment) {
  Value first = divide(queries.begin, size);
  Value last = add(divide(add(queries.end, -1), size), 1);
  Value none = constant(kNone), all = constant(kAll);
  // The least that any block sees, the most, and where the first one changes.
  auto loop = scf::ForOp::create(
      builder, loc, first, last, constant(1),
      ValueRange{all, none, queries.keyCount},
      [&](OpBuilder &, Location, Value block, ValueRange carried) {
        auto [cover, end] = segment(block);
        scf::YieldOp::create(builder, loc,
                             ValueRange{min(carried[0], cover),
                                        max(carried[1], cover),
                                        min(carried[2], end)});
      });
  Value isSeen = less(none, loop.getResult(1));
  Value some = choose(isSeen, constant(kSome), none);
  Value isAll = lessOrEqual(all, loop.getResult(0));
  return {choose(isAll, all, some), loop.getResult(2)};
}

//===----------------------------------------------------------------------===//
// Sorted lists
//===----------------------------------------------------------------------===//

Value SortedList::at(IndexMath &math, Value place) const {
  SmallVector<Value> indices(row.begin(), row.end());
  indices.push_back(math.add(begin, place));
  return math.load(table, indices);
}

Value SortedList::lowerBound(IndexMath &math, Value value) const {
  OpBuilder &builder = math.builder;
  Value zero = math.constant(0);
  auto search = scf::WhileOp::create(
      builder, math.loc, TypeRange{zero.getType(), zero.getType()},
      ValueRange{zero, size},
      [&](OpBuilder &, Location, ValueRange range) {
        scf::ConditionOp::create(builder, math.loc,
                                 math.less(range[0], range[1]), range);
      },
      [&](OpBuilder &, Location, ValueRange range) {
        Value middle = math.divide(math.add(range[0], range[1]), 2);
        Value isBelow = math.less(at(math, middle), value);
        scf::YieldOp::create(
            builder, math.loc,
            ValueRange{math.choose(isBelow, math.add(middle, 1), range[0]),
                       math.choose(isBelow, range[1], middle)});
      });
  return search.getResult(0);
}

Value SortedList::atOr(IndexMath &math, Value place, Value otherwise) const {
  OpBuilder &builder = math.builder;
  auto branch = scf::IfOp::create(
      builder, math.loc, math.less(place, size),
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, math.loc, at(math, place));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, math.loc, otherwise);
      });
  return branch.getResult(0);
}

Value SortedList::contains(Lanes &lanes, Value values) const {
  IndexMath math{lanes.getBuilder(), lanes.getLoc()};
  // Lanes are neighbours mostly: of the elements between them there are few.
  Value least = math.toIndex(lanes.leastLane(values));
  Value behind = math.add(math.toIndex(lanes.mostLane(values)), 1);
  Value first = math.toI32(lowerBound(math, least));
  Value last = math.toI32(lowerBound(math, behind));
  return lanes.anyOf(first, last, values, [&](Value place) {
    Value element = math.toI32(at(math, math.toIndex(place)));
    return lanes.equal(values, element);
  });
}

SortedList heddle::compressedRow(IndexMath &math, Value offsets, Value elements,
                                 Value row) {
  Lanes lanes(math.builder, math.loc);
  Value rows = math.add(math.toIndex(lanes.size(offsets, 0)), -1);
  Value isRow = math.less(row, rows);
  Value safe = math.choose(isRow, row, math.constant(0));
  // Nobody has checked offsets that are arguments.
  Value count = math.toIndex(lanes.size(elements, 0));
  Value begin = math.clamp(math.load(offsets, safe), count);
  // A table of one offset has no row at all.
  Value next = math.min(math.add(safe, 1), rows);
  Value end = math.clamp(math.load(offsets, next), count);
  Value size = math.max(math.sub(end, begin), math.constant(0));
  return {elements, {}, begin, math.choose(isRow, size, math.constant(0))};
}

//===----------------------------------------------------------------------===//
// What masks say together
//===----------------------------------------------------------------------===//

static MaskOpInterface sourceOf(Value mask) {
  return cast<MaskOpInterface>(mask.getDefiningOp());
}

KeyRanges heddle::keyRangesOf(OpBuilder &builder, Location loc,
                              const QueryBlock &block, Value mask) {
  auto known = block.known.find(mask);
  if (known != block.known.end())
    return known->second;
  KeyRanges ranges = sourceOf(mask).keyRanges(builder, loc, block);
  block.known[mask] = ranges;
  return ranges;
}

KeySegment heddle::segmentAt(OpBuilder &builder, Location loc,
                             const QueryBlock &block, Value mask, Value key) {
  auto known = block.segments.find({mask, key});
  if (known != block.segments.end())
    return known->second;
  KeySegment segment = keyRangesOf(builder, loc, block, mask)
                           ? segmentOfRanges(builder, loc, block, mask, key)
                           : sourceOf(mask).segmentAt(builder, loc, block, key);
  block.segments[{mask, key}] = segment;
  return segment;
}

/// What one range says of the keys from `key` on.
static KeySegment segmentOf(IndexMath &math, const KeyRange &range, Value key,
                            Value keyCount) {
  Value isBefore = math.less(key, range.begin);
  Value isBehind = math.lessOrEqual(range.end, key);
  Value isEarly = math.less(key, range.fullBegin);
  Value isLate = math.lessOrEqual(range.fullEnd, key);
  auto inside = [&](Value early, Value full, Value late) {
    return math.choose(isEarly, early, math.choose(isLate, late, full));
  };
  auto overall = [&](Value before, Value inside, Value behind) {
    return math.choose(isBehind, behind, math.choose(isBefore, before, inside));
  };
  Value none = math.constant(kNone), some = math.constant(kSome);
  Value cover = overall(none, inside(some, math.constant(kAll), some), none);
  Value end = overall(
      range.begin,
      math.min(inside(range.fullBegin, range.fullEnd, range.end), range.end),
      keyCount);
  return {cover, math.min(end, keyCount)};
}

KeySegment heddle::segmentOfRanges(OpBuilder &builder, Location loc,
                                   const QueryBlock &block, Value mask,
                                   Value key) {
  KeyRanges ranges = keyRangesOf(builder, loc, block, mask);
  assert(ranges && "a mask without ranges writes segmentAt");
  IndexMath math{builder, loc};
  KeySegment result = {math.constant(kNone), block.keyCount};
  for (const KeyRange &range : *ranges)
    result = math.unite(result, segmentOf(math, range, key, block.keyCount));
  return result;
}
