//===- TileRuns.cpp - From key ranges to runs of tiles --------------------===//
//
// Ranges are rounded outward to tiles before they are sorted and trimmed: two
// that meet inside a tile would otherwise visit it twice. There are at most
// kMaxKeyRanges of them, so that a network of comparisons sorts them without a
// branch.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/TileRuns.h"
#include "lib/Kernels/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

/// Keys of `range` that exist, in whole tiles; the full part as it is.
static KeyRange roundOutward(VectorLoops &loops, TileRunsOp op,
                             const KeyRange &range) {
  int64_t tile = op.getTile();
  auto inside = [&](Value bound) {
    return loops.clamp(bound, op.getKeyBegin(), op.getKeyEnd());
  };
  Value begin = inside(range.begin), end = inside(range.end);
  Value first = loops.floorTo(begin, tile);
  Value last = loops.floorTo(loops.plus(end, tile - 1), tile);
  return {first, loops.choose(loops.less(begin, end), last, first),
          inside(range.fullBegin), inside(range.fullEnd)};
}

/// Orders two ranges by their begin.
static void compareAndSwap(VectorLoops &loops, KeyRange &lhs, KeyRange &rhs) {
  Value isOrdered = loops.lessOrEqual(lhs.begin, rhs.begin);
  auto swap = [&](Value &left, Value &right) {
    Value first = loops.choose(isOrdered, left, right);
    right = loops.choose(isOrdered, right, left);
    left = first;
  };
  swap(lhs.begin, rhs.begin);
  swap(lhs.end, rhs.end);
  swap(lhs.fullBegin, rhs.fullBegin);
  swap(lhs.fullEnd, rhs.fullEnd);
}

void heddle::emitTileRuns(TileRunsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  SmallVector<KeyRange> ranges = {
      {op.getKeyBegin(), op.getKeyEnd(), op.getKeyBegin(), op.getKeyEnd()}};
  if (MaskOpInterface mask = op.getMaskOp())
    ranges = mask.keyRanges(builder, op.getLoc(),
                            {op.getBatch(), op.getHead(), op.getQueryBegin(),
                             op.getQueryEnd(), op.getKeyEnd()});
  for (KeyRange &range : ranges)
    range = roundOutward(loops, op, range);
  for (size_t sorted = 0; sorted < ranges.size(); ++sorted)
    for (size_t at = 0; at + 1 < ranges.size() - sorted; ++at)
      compareAndSwap(loops, ranges[at], ranges[at + 1]);

  Value zero = loops.index(0), covered = zero;
  for (auto [row, range] : llvm::enumerate(ranges)) {
    range.begin = loops.most(range.begin, covered);
    covered = loops.most(covered, range.end);
    // Empty runs stand at 0, before all that have keys.
    Value hasKeys = loops.less(range.begin, range.end);
    range.begin = loops.choose(hasKeys, range.begin, zero);
    range.end = loops.choose(hasKeys, range.end, zero);
    for (auto [column, bound] : llvm::enumerate(ArrayRef<Value>{
             range.begin, range.end, range.fullBegin, range.fullEnd}))
      loops.store(bound, op.getRuns(), {loops.index(row), loops.index(column)});
  }
  op.getCount().replaceAllUsesWith(loops.index(ranges.size()));
}
