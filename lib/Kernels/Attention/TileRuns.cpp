//===- TileRuns.cpp - From key ranges to runs of tiles --------------------===//
//
// Ranges are rounded outward to tiles before they are sorted and trimmed,
// because two ranges that meet inside a tile would visit it twice. Ranges in
// closed form are few: a sorting network orders them without a branch. Any
// other mask is asked for its segment at a key, then for the one at the end of
// that segment, and so on, which gives any number of ranges in ascending order.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/TileRuns.h"
#include "lib/Kernels/Vectors/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

/// The position of a query or a key, by its number.
static Value positionOf(VectorLoops &loops, TileRunsOp op, Value number) {
  if (!op.getRemainder())
    return number;
  return loops.add(loops.mul(number, op.getStride()), op.getRemainder());
}

/// The first number whose position is not before `position`.
static Value numberOf(VectorLoops &loops, TileRunsOp op, Value position) {
  if (!op.getRemainder())
    return position;
  int64_t stride = op.getStride();
  Value past = loops.sub(loops.add(position, stride - 1), op.getRemainder());
  return loops.udiv(loops.max(past, loops.index(0)), stride);
}

/// Keys of `range` that exist, in whole tiles; the full part as it is.
static KeyRange roundOutward(VectorLoops &loops, TileRunsOp op,
                             const KeyRange &range) {
  int64_t tile = op.getTile();
  auto inside = [&](Value bound) {
    return loops.clamp(numberOf(loops, op, bound), op.getKeyBegin(),
                       op.getKeyEnd());
  };
  Value begin = inside(range.begin), end = inside(range.end);
  Value first = loops.floorTo(begin, tile);
  Value last = loops.floorTo(loops.add(end, tile - 1), tile);
  return {first, loops.select(loops.less(begin, end), last, first),
          inside(range.fullBegin), inside(range.fullEnd)};
}

/// Orders two ranges by their begin, the longer one first: where runs begin and
/// end decides the order of sums, which may not depend on that of the ranges.
static void compareAndSwap(VectorLoops &loops, KeyRange &lhs, KeyRange &rhs) {
  Value isLonger = loops.logicalAnd(loops.lessOrEqual(lhs.begin, rhs.begin),
                                    loops.lessOrEqual(rhs.end, lhs.end));
  Value isOrdered = loops.logicalOr(loops.less(lhs.begin, rhs.begin), isLonger);
  auto swap = [&](Value &left, Value &right) {
    Value first = loops.select(isOrdered, left, right);
    right = loops.select(isOrdered, right, left);
    left = first;
  };
  swap(lhs.begin, rhs.begin);
  swap(lhs.end, rhs.end);
  swap(lhs.fullBegin, rhs.fullBegin);
  swap(lhs.fullEnd, rhs.fullEnd);
}

static void storeRun(VectorLoops &loops, TileRunsOp op, Value row,
                     const KeyRange &run) {
  Value bounds[] = {run.begin, run.end, run.fullBegin, run.fullEnd};
  for (auto [column, bound] : llvm::enumerate(bounds))
    loops.store(bound, op.getRuns(), {row, loops.index(column)});
}

/// The runs of a few ranges.
static void storeClosedForm(VectorLoops &loops, TileRunsOp op,
                            SmallVector<KeyRange> ranges) {
  for (KeyRange &range : ranges)
    range = roundOutward(loops, op, range);
  for (size_t sorted = 0; sorted < ranges.size(); ++sorted)
    for (size_t at = 0; at + 1 < ranges.size() - sorted; ++at)
      compareAndSwap(loops, ranges[at], ranges[at + 1]);

  Value zero = loops.index(0), covered = zero;
  for (auto [row, range] : llvm::enumerate(ranges)) {
    range.begin = loops.max(range.begin, covered);
    covered = loops.max(covered, range.end);
    // Empty runs stand at 0, before all that have keys.
    Value hasKeys = loops.less(range.begin, range.end);
    range.begin = loops.select(hasKeys, range.begin, zero);
    range.end = loops.select(hasKeys, range.end, zero);
    storeRun(loops, op, loops.index(row), range);
  }
  op.getCount().replaceAllUsesWith(loops.index(ranges.size()));
  op.getNext().replaceAllUsesWith(op.getKeyEnd());
}

namespace {
/// Walks over what a mask says of the queries, from segment to segment.
class SegmentWalk {
public:
  SegmentWalk(VectorLoops &loops, TileRunsOp op, const QueryBlock &block)
      : loops(loops), op(op), block(block) {}

  void build();

private:
  /// The next key to ask about, how many runs there are, and the last of them.
  struct State {
    Value key, count;
    KeyRange run;

    explicit State(ValueRange values)
        : key(values[0]), count(values[1]),
          run{values[2], values[3], values[4], values[5]} {}
    State(Value key, Value count, const KeyRange &run)
        : key(key), count(count), run(run) {}
    SmallVector<Value> values() const {
      return {key, count, run.begin, run.end, run.fullBegin, run.fullEnd};
    }
  };
  State take(const State &before, const KeySegment &segment);

  VectorLoops &loops;
  TileRunsOp op;
  const QueryBlock &block;
};
} // namespace

/// Adds a segment with keys to the last run, or begins a new one: a run is some
/// tiles, one stretch of whole ones, and some tiles again.
SegmentWalk::State SegmentWalk::take(const State &before,
                                     const KeySegment &segment) {
  int64_t tile = op.getTile();
  const KeyRange &last = before.run;
  Value begin = loops.max(loops.floorTo(before.key, tile), last.end);
  Value end = loops.floorTo(loops.add(segment.end, tile - 1), tile);
  Value isSome = loops.less(segment.cover, loops.index(kAll));
  Value hasFull = loops.less(last.fullBegin, last.fullEnd);
  Value hasNone = loops.lessOrEqual(last.fullEnd, last.fullBegin);
  Value touches = loops.logicalAnd(loops.less(loops.index(0), before.count),
                                   loops.lessOrEqual(begin, last.end));
  // Where a stretch ends inside a tile, the next cannot join it.
  Value continues =
      loops.logicalOr(hasNone, loops.lessOrEqual(before.key, last.fullEnd));
  Value joins = loops.logicalAnd(touches, loops.logicalOr(isSome, continues));
  Value keepsFull = loops.logicalAnd(joins, hasFull);

  KeyRange run;
  run.begin = loops.select(joins, last.begin, begin);
  run.end = end;
  run.fullBegin = loops.select(keepsFull, last.fullBegin,
                               loops.select(isSome, run.begin, before.key));
  run.fullEnd = loops.select(
      isSome, loops.select(keepsFull, last.fullEnd, run.begin), segment.end);
  Value count = loops.select(joins, before.count, loops.add(before.count, 1));
  storeRun(loops, op, loops.add(count, -1), run);
  return State(end, count, run);
}

void SegmentWalk::build() {
  Value zero = loops.index(0), keyEnd = op.getKeyEnd();
  Value rows = loops.size(op.getRuns(), 0);
  State initial(op.getKeyBegin(), zero, {zero, zero, zero, zero});
  auto isLeft = [&](ValueRange values) {
    State state(values);
    return loops.logicalAnd(loops.less(state.key, keyEnd),
                            loops.less(state.count, rows));
  };
  State last(loops.repeat(initial.values(), isLeft, [&](ValueRange values) {
    State state(values);
    KeySegment segment =
        segmentAt(loops.builder, loops.loc, block, op.getMask(),
                  positionOf(loops, op, state.key));
    segment.end = loops.min(numberOf(loops, op, segment.end), keyEnd);
    return loops.ifYield(
        loops.less(zero, segment.cover),
        [&] { return take(state, segment).values(); },
        [&] { return State(segment.end, state.count, state.run).values(); });
  }));
  op.getCount().replaceAllUsesWith(last.count);
  op.getNext().replaceAllUsesWith(last.key);
}

void heddle::emitTileRuns(TileRunsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  if (!op.getMask())
    return storeClosedForm(
        loops, op,
        {{op.getKeyBegin(), op.getKeyEnd(), op.getKeyBegin(), op.getKeyEnd()}});
  auto behind = [&](Value end) {
    return loops.add(positionOf(loops, op, loops.add(end, -1)), 1);
  };
  QueryBlock block = {op.getBatch(),
                      op.getHead(),
                      positionOf(loops, op, op.getQueryBegin()),
                      behind(op.getQueryEnd()),
                      behind(op.getKeyEnd()),
                      static_cast<int64_t>(op.getStride())};
  if (auto ranges = keyRangesOf(builder, op.getLoc(), block, op.getMask()))
    return storeClosedForm(loops, op, *ranges);
  SegmentWalk(loops, op, block).build();
}
