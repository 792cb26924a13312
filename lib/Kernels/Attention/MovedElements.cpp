//===- MovedElements.cpp - Ops that move elements, as maps of indices -----===//
//
// Each op becomes a function from the place of an element in the result to a
// place in one operand. Places are row-major numbers; they are taken apart into
// coordinates where shapes differ. All is computed while code is generated,
// since regions move elements by constants only: no instruction moves anything.
// An insert chooses between its two operands by the place.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/MovedElements.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace heddle;

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }
static ArrayRef<int64_t> shapeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getShape();
}
static int64_t sizeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

bool heddle::movesElements(Operation *op) {
  return isa_and_nonnull<
      vector::BroadcastOp, vector::ExtractOp, vector::ExtractStridedSliceOp,
      vector::FromElementsOp, vector::InsertOp, vector::InsertStridedSliceOp,
      vector::ShapeCastOp, vector::ShuffleOp, vector::TransposeOp>(op);
}

static SmallVector<int64_t> coordinates(Value vector, int64_t at) {
  return delinearize(at, computeStrides(shapeOf(vector)));
}
static int64_t placeOf(Value vector, ArrayRef<int64_t> coordinates) {
  return linearize(coordinates, computeStrides(shapeOf(vector)));
}

static SmallVector<int64_t> integers(ArrayAttr attribute) {
  SmallVector<int64_t> result;
  for (Attribute each : attribute)
    result.push_back(cast<IntegerAttr>(each).getInt());
  return result;
}

/// The source of an element of each op, and the place there.
static ElementSource comesFrom(vector::BroadcastOp op, int64_t at) {
  Value from = op.getSource();
  if (!isVector(from))
    return {from, 0};
  SmallVector<int64_t> place = coordinates(op.getVector(), at);
  ArrayRef<int64_t> shape = shapeOf(from);
  place.erase(place.begin(), place.end() - shape.size());
  for (auto [coordinate, size] : llvm::zip(place, shape))
    coordinate = size == 1 ? 0 : coordinate;
  return {from, placeOf(from, place)};
}
static ElementSource comesFrom(vector::ExtractOp op, int64_t at) {
  int64_t size = isVector(op.getResult()) ? sizeOf(op.getResult()) : 1;
  SmallVector<int64_t> place(op.getStaticPosition());
  place.resize(shapeOf(op.getSource()).size());
  return {op.getSource(), placeOf(op.getSource(), place) + at % size};
}
static ElementSource comesFrom(vector::ExtractStridedSliceOp op, int64_t at) {
  SmallVector<int64_t> place = coordinates(op.getResult(), at);
  for (auto [coordinate, offset] : llvm::zip(place, integers(op.getOffsets())))
    coordinate += offset;
  return {op.getSource(), placeOf(op.getSource(), place)};
}
static ElementSource comesFrom(vector::FromElementsOp op, int64_t at) {
  return {op.getElements()[at], 0};
}
static ElementSource comesFrom(vector::InsertOp op, int64_t at) {
  Value part = op.getValueToStore();
  SmallVector<int64_t> place(op.getStaticPosition());
  place.resize(shapeOf(op.getDest()).size());
  int64_t begin = placeOf(op.getDest(), place);
  int64_t size = isVector(part) ? sizeOf(part) : 1;
  if (begin <= at && at < begin + size)
    return {part, at - begin};
  return {op.getDest(), at};
}
static ElementSource comesFrom(vector::InsertStridedSliceOp op, int64_t at) {
  Value part = op.getValueToStore();
  SmallVector<int64_t> place = coordinates(op.getDest(), at);
  for (auto [coordinate, offset] : llvm::zip(place, integers(op.getOffsets())))
    coordinate -= offset;
  ArrayRef<int64_t> shape = shapeOf(part);
  // The part has the last dimensions; the first ones of the slice are 1.
  size_t leading = place.size() - shape.size();
  bool isInside = llvm::all_of(ArrayRef(place).take_front(leading),
                               [](int64_t each) { return each == 0; });
  ArrayRef<int64_t> inner = ArrayRef(place).drop_front(leading);
  for (auto [coordinate, size] : llvm::zip(inner, shape))
    isInside &= 0 <= coordinate && coordinate < size;
  if (isInside)
    return {part, placeOf(part, inner)};
  return {op.getDest(), at};
}
static ElementSource comesFrom(vector::ShapeCastOp op, int64_t at) {
  return {op.getSource(), at};
}
static ElementSource comesFrom(vector::ShuffleOp op, int64_t at) {
  ArrayRef<int64_t> first = shapeOf(op.getV1());
  int64_t rows = first.empty() ? 1 : first.front();
  int64_t inner = sizeOf(op.getV1()) / rows;
  int64_t row = op.getMask()[at / inner];
  if (row < rows)
    return {op.getV1(), row * inner + at % inner};
  return {op.getV2(), (row - rows) * inner + at % inner};
}
static ElementSource comesFrom(vector::TransposeOp op, int64_t at) {
  SmallVector<int64_t> place = coordinates(op.getResult(), at);
  SmallVector<int64_t> source(place.size());
  for (auto [axis, from] : llvm::enumerate(op.getPermutation()))
    source[from] = place[axis];
  return {op.getVector(), placeOf(op.getVector(), source)};
}

ElementSource heddle::sourceOf(Operation *move, int64_t at) {
  return TypeSwitch<Operation *, ElementSource>(move)
      .Case<vector::BroadcastOp, vector::ExtractOp,
            vector::ExtractStridedSliceOp, vector::FromElementsOp,
            vector::InsertOp, vector::InsertStridedSliceOp, vector::ShapeCastOp,
            vector::ShuffleOp, vector::TransposeOp>(
          [&](auto op) { return comesFrom(op, at); });
}
