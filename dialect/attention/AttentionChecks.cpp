//===- AttentionChecks.cpp - Which keys attention may have ----------------===//
//
// Types of keys and values, and what masks and projections ask of the attention
// that reads them.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "dialect/attention/Attention.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

LogicalResult heddle::verifyFactorTypes(AttentionOp op) {
  bool isOfIntegers = getElementTypeOrSelf(op.getKey()).isInteger(8);
  if (isOfIntegers && !op.getFactorType().isF32())
    return op.emitOpError("expects queries of f32 beside keys of i8, found ")
           << op.getQuery().getType();
  Value first = isOfIntegers ? op.getKey() : op.getQuery();
  for (Value each : {op.getKey(), op.getValue()})
    if (getElementTypeOrSelf(each) != getElementTypeOrSelf(first))
      return op.emitOpError("expects ")
             << (isOfIntegers ? "keys" : "queries, keys")
             << " and values of one element type, found " << first.getType()
             << " and " << each.getType();
  SmallVector<int64_t> shape(shapedType(op.getKey()).getShape());
  shape.back() = op.getKeyValueHeads();
  for (Value scales : {op.getKeyScales(), op.getValueScales()}) {
    if (bool(scales) != isOfIntegers)
      return op.emitOpError(
                 "expects scales of keys and values exactly if these "
                 "are i8, found ")
             << op.getKey().getType();
    if (scales &&
        failed(verifyCompatibleShape(shapedType(scales).getShape(), shape)))
      return op.emitOpError("expects a scale for each of ")
             << op.getKeyValueHeads() << " kv heads of "
             << op.getKey().getType() << ", found " << scales.getType();
  }
  if (isOfIntegers && (op.hasRaggedKeys() || op.isRelative()))
    return op.emitOpError(
        "expects keys of i8 neither ragged nor beside vectors "
        "of relative positions");
  return success();
}

static LogicalResult verifyHeadsOf(MaskOpInterface mask, AttentionOp op) {
  std::optional<int64_t> heads = mask.numHeads();
  if (!heads || *heads == static_cast<int64_t>(op.getHeads()))
    return success();
  InFlightDiagnostic error = op.emitOpError("has ")
                             << op.getHeads() << " heads but its mask has "
                             << *heads;
  error.attachNote(mask.getLoc()) << "the mask tells heads apart here";
  return error;
}

/// The ops that the mask of `op` is made of. Each mask op verifies its
/// operands, but perhaps later than this.
static SetVector<Operation *> masksOf(AttentionOp op) {
  SetVector<Operation *> masks;
  auto add = [&](Value value) {
    if (auto mask = value.getDefiningOp<MaskOpInterface>())
      masks.insert(mask);
  };
  if (op.getMask())
    add(op.getMask());
  for (size_t index = 0; index < masks.size(); ++index)
    for (Value operand : masks[index]->getOperands())
      if (isa<MaskType>(operand.getType()))
        add(operand);
  return masks;
}

LogicalResult heddle::verifyMaskOf(AttentionOp op) {
  // The rows of a step that read their own caches say which sentence they
  // belong to; how many there are is not known.
  bool readsSentences = !op.isStep() || op.getShared();
  for (Operation *each : masksOf(op)) {
    auto mask = cast<MaskOpInterface>(each);
    if (failed(verifyHeadsOf(mask, op)) ||
        (readsSentences &&
         failed(verifyPerSentence(op, op.getOfSentences(),
                                  mask.operandsOfSentences()))))
      return failure();
  }
  return success();
}

/// Whether rows come from an `Op`, as they are or each by itself through layers
/// behind it.
template <typename Op> static bool comeFrom(Value rows) {
  SetVector<Operation *> layers;
  auto visit = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      layers.insert(op);
  };
  visit(rows);
  for (size_t index = 0; index < layers.size(); ++index) {
    Operation *op = layers[index];
    if (isa<Op>(op))
      return true;
    if (auto layer = dyn_cast<LayerOpInterface>(op))
      llvm::for_each(layer.getRowInputs(), visit);
  }
  return false;
}

bool heddle::hasProjectedKeys(AttentionOp op) {
  return comeFrom<ProjectSequenceOp>(op.getKey());
}

LogicalResult heddle::verifyProjected(AttentionOp op) {
  bool isKey = hasProjectedKeys(op),
       isValue = comeFrom<ProjectSequenceOp>(op.getValue());
  if (isKey != isValue)
    return op.emitOpError("expects both keys and values projected along the "
                          "sequence, or neither");
  if (!isKey || !op.getMask() || op.getMask().getDefiningOp<MaskFullOp>())
    return success();
  return op.emitOpError(
      "has a mask over keys that are projected along the "
      "sequence: each mixes all positions and has none of its own");
}

bool heddle::hasTakenQueries(AttentionOp op) {
  return comeFrom<TakeRowsOp>(op.getQuery());
}

LogicalResult heddle::verifyTaken(AttentionOp op) {
  if (!hasTakenQueries(op))
    return success();
  for (Operation *mask : masksOf(op)) {
    if (!cast<MaskOpInterface>(mask).knowsQueries())
      continue;
    InFlightDiagnostic error = op.emitOpError(
        "has queries from 'take_rows', which have no positions of their own, "
        "but its mask compares positions of queries");
    error.attachNote(mask->getLoc()) << "the mask compares them here";
    return error;
  }
  return success();
}

int64_t heddle::partElements(AttentionOp op) {
  constexpr int64_t kMostLanes = 16;
  return op.getValueWidth() + kOnlineStateRows * kMostLanes;
}

LogicalResult heddle::verifyParts(AttentionOp op) {
  if (!op.getParts())
    return success();
  auto type = dyn_cast<MemRefType>(op.getParts().getType());
  if (!type || !op.isStep() || op.getShared())
    return op.emitOpError("has parts and expects a step over caches of its "
                          "own, on memrefs");
  ArrayRef<int64_t> shape = type.getShape();
  int64_t heads = op.getHeads(), elements = partElements(op);
  if (shape.size() == 4 && type.getElementType().isF32() &&
      shape.drop_front() == ArrayRef{heads, kMostParts, elements})
    return success();
  return op.emitOpError("expects parts of f32 [rows, ")
         << heads << ", " << kMostParts << ", " << elements << "], found "
         << type;
}

LogicalResult heddle::verifyRelative(AttentionOp op) {
  if (!op.isRelative())
    return success();
  if (!op.getSimilarity().empty())
    return op.emitOpError("has vectors of relative positions beside a "
                          "similarity region, which computes the whole score");
  if (op.isStep())
    return op.emitOpError("has vectors of relative positions in the step form");
  if (op.getKeyValueHeads() != int64_t(op.getHeads()))
    return op.emitOpError("has vectors of relative positions and expects as "
                          "many kv heads as heads, found ")
           << op.getKeyValueHeads() << " and " << op.getHeads();
  auto width = cast<ShapedType>(op.getQuery().getType()).getShape().back();
  Type first;
  for (Value table : {op.getRelativeKeys(), op.getRelativeQueries()}) {
    if (!table)
      continue;
    auto type = cast<ShapedType>(table.getType());
    if (type.getRank() != 2 || type.getDimSize(0) != width ||
        type.isDynamicDim(1) || type.getDimSize(1) % 2 != 1)
      return op.emitOpError("expects vectors of relative positions [")
             << width << ", 2 far + 1], found " << type;
    if (first && first != type)
      return op.emitOpError("expects relative keys and queries of one shape, "
                            "found ")
             << first << " and " << type;
    first = type;
  }
  if (hasTakenQueries(op) || comeFrom<TakeRowsOp>(op.getKey()) ||
      hasProjectedKeys(op))
    return op.emitOpError("has vectors of relative positions, but queries or "
                          "keys without positions of their own");
  return success();
}
