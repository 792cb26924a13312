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

Value IndexMath::clamp(Value value, Value limit) {
  return max(index(0), min(value, limit));
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
                                               which, index(deciding));
  };
  Value none = index(0);
  Value furthest = max(select(decides(lhs.cover), lhs.end, none),
                       select(decides(rhs.cover), rhs.end, none));
  return {cover, select(decides(cover), furthest, min(lhs.end, rhs.end))};
}

KeySegment IndexMath::intersect(const KeySegment &lhs, const KeySegment &rhs) {
  return combine(lhs, rhs, min(lhs.cover, rhs.cover), kNone);
}

KeySegment IndexMath::unite(const KeySegment &lhs, const KeySegment &rhs) {
  return combine(lhs, rhs, max(lhs.cover, rhs.cover), kAll);
}

KeySegment IndexMath::overBlocks(const QueryBlock &queries, int64_t size,
                                 function_ref<KeySegment(Value)> segment) {
  Value first = udiv(queries.begin, size);
  Value last = add(udiv(add(queries.end, -1), size), 1);
  Value none = index(kNone), all = index(kAll);
  // The least that any block sees, the most, and where the first one changes.
  auto loop = scf::ForOp::create(
      builder, loc, first, last, index(1),
      ValueRange{all, none, queries.keyCount},
      [&](OpBuilder &, Location, Value block, ValueRange carried) {
        auto [cover, end] = segment(block);
        scf::YieldOp::create(builder, loc,
                             ValueRange{min(carried[0], cover),
                                        max(carried[1], cover),
                                        min(carried[2], end)});
      });
  Value isSeen = less(none, loop.getResult(1));
  Value some = select(isSeen, index(kSome), none);
  Value isAll = lessOrEqual(all, loop.getResult(0));
  return {select(isAll, all, some), loop.getResult(2)};
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
  Value zero = math.index(0);
  auto search = scf::WhileOp::create(
      builder, math.loc, TypeRange{zero.getType(), zero.getType()},
      ValueRange{zero, size},
      [&](OpBuilder &, Location, ValueRange range) {
        scf::ConditionOp::create(builder, math.loc,
                                 math.less(range[0], range[1]), range);
      },
      [&](OpBuilder &, Location, ValueRange range) {
        Value middle = math.udiv(math.add(range[0], range[1]), 2);
        Value isBelow = math.less(at(math, middle), value);
        scf::YieldOp::create(
            builder, math.loc,
            ValueRange{math.select(isBelow, math.add(middle, 1), range[0]),
                       math.select(isBelow, range[1], middle)});
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
  IndexMath math{lanes.builder, lanes.loc};
  // Lanes are neighbours mostly: of the elements between them there are few.
  Value least = math.toIndex(lanes.reduceMin(values));
  Value behind = math.add(math.toIndex(lanes.reduceMax(values)), 1);
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
  Value safe = math.select(isRow, row, math.index(0));
  // Nobody has checked offsets that are arguments.
  Value count = math.toIndex(lanes.size(elements, 0));
  Value begin = math.clamp(math.load(offsets, safe), count);
  // A table of one offset has no row at all.
  Value next = math.min(math.add(safe, 1), rows);
  Value end = math.clamp(math.load(offsets, next), count);
  Value size = math.max(math.sub(end, begin), math.index(0));
  return {elements, {}, begin, math.select(isRow, size, math.index(0))};
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
    return math.select(isEarly, early, math.select(isLate, late, full));
  };
  auto overall = [&](Value before, Value inside, Value behind) {
    return math.select(isBehind, behind, math.select(isBefore, before, inside));
  };
  Value none = math.index(kNone), some = math.index(kSome);
  Value cover = overall(none, inside(some, math.index(kAll), some), none);
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
  KeySegment result = {math.index(kNone), block.keyCount};
  for (const KeyRange &range : *ranges)
    result = math.unite(result, segmentOf(math, range, key, block.keyCount));
  return result;
}
