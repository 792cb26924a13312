//===- Online.cpp - Attention as tiles of keys ----------------------------===//
//
// Shapes of scratch memory have to agree, so that a number of queries that is
// changed in one place of a dump and not in another is an error.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

static MemRefType memrefType(Value value) {
  return cast<MemRefType>(value.getType());
}
static int64_t widthOf(Value rows) {
  return memrefType(rows).getShape().back();
}
/// The number of columns of [size, columns]; 0 for [size], one query.
static int64_t columnsOf(Value columns) {
  MemRefType type = memrefType(columns);
  return type.getRank() == 1 ? 0 : type.getDimSize(1);
}

static LogicalResult verifyAgree(Operation *op, StringRef what, int64_t first,
                                 int64_t second) {
  if (first == second && !ShapedType::isDynamic(first))
    return success();
  return op->emitOpError("expects one static ")
         << what << ", found " << first << " and " << second;
}

/// The state holds a few values a column.
static LogicalResult verifyState(Operation *op, Value state, Value columns) {
  MemRefType type = memrefType(state);
  if (type.hasStaticShape() && type.getDimSize(0) == kOnlineStateRows &&
      (columnsOf(columns) == 0 || columnsOf(columns) == type.getDimSize(1)))
    return success();
  return op->emitOpError("expects a state of ")
         << kOnlineStateRows << " rows and the columns of " << columns.getType()
         << ", found " << type;
}

MaskOpInterface TileRunsOp::getMaskOp() {
  return getMask() ? getMask().getDefiningOp<MaskOpInterface>()
                   : MaskOpInterface();
}

LogicalResult TileRunsOp::verify() {
  // mask_tile_runs_c1
  ArrayRef<int64_t> shape = memrefType(getRuns()).getShape();
  if (shape[1] != 4 || shape[0] < static_cast<int64_t>(kMaxKeyRanges))
    return emitOpError("expects runs of type memref<")
           << kMaxKeyRanges << "x4xindex> or longer, found "
           << getRuns().getType();
  return verifyMaskOperands(*this);
}

LogicalResult OnlineInitOp::verify() {
  // online_init_c1
  if (failed(verifyAgree(*this, "number of columns", columnsOf(getQueries()),
                         columnsOf(getSums()))) ||
      failed(verifyAgree(*this, "width of queries", widthOf(getRows()),
                         memrefType(getQueries()).getDimSize(0))))
    return failure();
  return verifyState(*this, getState(), getQueries());
}

MaskOpInterface OnlineWeightsOp::getMaskOp() {
  return getMask() ? getMask().getDefiningOp<MaskOpInterface>()
                   : MaskOpInterface();
}

LogicalResult OnlineWeightsOp::verify() {
  // online_weights_c1
  for (Value columns : {getWeights(), getSums()})
    if (failed(verifyAgree(*this, "number of columns", columnsOf(getQueries()),
                           columnsOf(columns))))
      return failure();
  if (failed(verifyAgree(*this, "width of keys", widthOf(getKeys()),
                         memrefType(getQueries()).getDimSize(0))))
    return failure();
  // online_weights_c2
  if ((getNormalizer() == Normalizer::Region) != !getWeighting().empty())
    return emitOpError("expects a normalizer region exactly where the "
                       "normalizer is 'region'");
  if (failed(verifyState(*this, getState(), getQueries())))
    return failure();
  return verifyMaskOperands(*this);
}

LogicalResult OnlineUpdateOp::verify() {
  // online_update_c1
  if (failed(verifyAgree(*this, "number of columns", columnsOf(getWeights()),
                         columnsOf(getSums()))))
    return failure();
  return verifyAgree(*this, "width of values", widthOf(getValues()),
                     memrefType(getSums()).getDimSize(0));
}

LogicalResult OnlineFinishOp::verify() {
  // online_finish_c1
  if (failed(verifyAgree(*this, "width of rows", widthOf(getRows()),
                         memrefType(getSums()).getDimSize(0))))
    return failure();
  return verifyState(*this, getState(), getSums());
}
