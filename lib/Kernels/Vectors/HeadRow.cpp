//===- HeadRow.cpp - Views of heads, slots of positions, and prefetches ---===//
//
// A head is a subview: its elements are next to each other in each row, and
// nothing is copied. The ring of a cache holds parts of two laps, and the
// origin is the first position of the older one. So a comparison and a
// subtraction find a slot, without a division for each key.
//
// Rows a page or more apart are prefetched, because prefetchers in hardware
// stop at the end of a page. Rows of a list are always prefetched, since their
// order is unknown to hardware.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/HeadRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

int64_t heddle::widthOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

Type heddle::elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

void heddle::forEachPart(int64_t lanes, int64_t width,
                         function_ref<void(int64_t, int64_t)> body) {
  for (int64_t begin = 0; begin < width; begin += lanes)
    body(begin, std::min(lanes, width - begin));
}

Value heddle::headRows(VectorLoops &loops, Value memref, Value batch,
                       Value head, int64_t width) {
  auto type = cast<MemRefType>(memref.getType());
  OpBuilder &builder = loops.builder;
  int64_t rank = type.getRank();
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(rank, zero), counts(rank, one),
      strides(rank, one);
  if (rank == 3)
    offsets[0] = batch;
  counts[rank - 2] =
      type.isDynamicDim(rank - 2)
          ? OpFoldResult(loops.size(memref, rank - 2))
          : OpFoldResult(builder.getIndexAttr(type.getDimSize(rank - 2)));
  offsets[rank - 1] = loops.mul(head, width);
  counts[rank - 1] = builder.getIndexAttr(width);
  MemRefType rows = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(rank - 2), width}, type, offsets, counts, strides);
  return memref::SubViewOp::create(builder, loops.loc, rows, memref, offsets,
                                   counts, strides);
}

Value heddle::headRowsOfAll(VectorLoops &loops, Value memref, Value head,
                            int64_t width) {
  Value rows = memref::CollapseShapeOp::create(
      loops.builder, loops.loc, memref,
      ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  return headRows(loops, rows, /*batch=*/Value(), head, width);
}

Value heddle::someRows(VectorLoops &loops, Value rows, Value first,
                       OpFoldResult count) {
  OpFoldResult zero = loops.builder.getIndexAttr(0),
               one = loops.builder.getIndexAttr(1),
               width = loops.builder.getIndexAttr(widthOf(rows));
  return memref::SubViewOp::create(
      loops.builder, loops.loc, rows, ArrayRef<OpFoldResult>{first, zero},
      ArrayRef<OpFoldResult>{count, width}, ArrayRef<OpFoldResult>{one, one});
}

Value heddle::rowView(VectorLoops &loops, Value rows, Value row) {
  OpBuilder &builder = loops.builder;
  auto type = cast<MemRefType>(rows.getType());
  OpFoldResult one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {row, builder.getIndexAttr(0)};
  SmallVector<OpFoldResult> counts = {
      one, type.isDynamicDim(1)
               ? OpFoldResult(loops.size(rows, 1))
               : OpFoldResult(builder.getIndexAttr(type.getDimSize(1)))};
  SmallVector<OpFoldResult> strides = {one, one};
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      type.getDimSize(1), type, offsets, counts, strides);
  return memref::SubViewOp::create(builder, loops.loc, view, rows, offsets,
                                   counts, strides);
}

Value heddle::everyRow(VectorLoops &loops, Value rows, Value first,
                       int64_t stride) {
  OpBuilder &builder = loops.builder;
  Value behind = loops.add(loops.size(rows, 0), stride - 1);
  Value left = loops.max(loops.sub(behind, first), loops.index(0));
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return memref::SubViewOp::create(
      builder, loops.loc, rows, ArrayRef<OpFoldResult>{first, zero},
      ArrayRef<OpFoldResult>{loops.udiv(left, stride),
                             builder.getIndexAttr(widthOf(rows))},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(stride), one});
}

static Value slotOf(VectorLoops &loops, const KeyPlaces &places, Value j,
                    Value slots) {
  if (!places.origin)
    return j;
  slots = loops.add(slots, -places.pinned);
  Value slot = loops.sub(j, places.origin);
  Value isNextLap = loops.lessOrEqual(slots, slot);
  slot = loops.select(isNextLap, loops.sub(slot, slots), slot);
  if (places.pinned == 0)
    return slot;
  // What is neither pinned nor in the ring is outside of the mask.
  slot = loops.add(loops.max(slot, loops.index(0)), places.pinned);
  return loops.select(loops.less(j, loops.index(places.pinned)), j, slot);
}

Value heddle::rowOf(VectorLoops &loops, const KeyPlaces &places, Value j,
                    Value rows) {
  if (places.list)
    j = loops.toIndex(loops.load(places.list, j));
  if (!places.history)
    return slotOf(loops, places, j, loops.size(rows, 0));
  Value cache = loops.toIndex(loops.load(places.history, j));
  Value first = loops.mul(cache, places.cacheRows);
  return loops.add(first, slotOf(loops, places, j, places.cacheRows));
}

RowRun heddle::runOf(VectorLoops &loops, const KeyPlaces &places, Value j,
                     int64_t count, Value rows) {
  Value first = rowOf(loops, places, j, rows);
  Value last = rowOf(loops, places, loops.add(j, count - 1), rows);
  return {first, loops.equal(loops.sub(last, first), loops.index(count - 1))};
}

Value heddle::asF32(VectorLoops &loops, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType().isF32())
    return vector;
  if (!type.getElementType().isInteger(8))
    return loops.widen(vector);
  return arith::SIToFPOp::create(
      loops.builder, loops.loc, type.clone(loops.builder.getF32Type()), vector);
}

Value heddle::scaleOf(VectorLoops &loops, Value scales, Value row,
                      int64_t lanes) {
  return loops.broadcast(loops.load(scales, {row, loops.index(0)}), lanes);
}

static int64_t elementBytes(Value memref) {
  return elementOf(memref).getIntOrFloatBitWidth() / 8;
}

/// Asks for the lines of a row; locality 3 is the first cache.
static void prefetchLines(VectorLoops &loops, Value rows, Value row,
                          int64_t locality) {
  constexpr int64_t kLine = 64;
  for (int64_t d = 0; d < widthOf(rows); d += kLine / elementBytes(rows))
    memref::PrefetchOp::create(loops.builder, loops.loc, rows,
                               ValueRange{row, loops.index(d)},
                               /*isWrite=*/false, locality,
                               /*isDataCache=*/true);
}

void heddle::prefetchRow(VectorLoops &loops, Value rows, Value row) {
  constexpr int64_t kPage = 4096;
  auto [strides, offset] =
      cast<MemRefType>(rows.getType()).getStridesAndOffset();
  if (!ShapedType::isDynamic(strides[0]) &&
      elementBytes(rows) * strides[0] >= kPage)
    prefetchLines(loops, rows, row, /*locality=*/2);
}

void heddle::prefetchListedRow(VectorLoops &loops, Value rows, Value row) {
  prefetchLines(loops, rows, row, /*locality=*/3);
}
