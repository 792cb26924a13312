//===- Choice.cpp - largest_logits and best_logits ------------------------===//
//
// Verifiers check the numbered constraints of Choice.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// What both share
//===----------------------------------------------------------------------===//

/// largest_logits_c1 to c3, which are best_logits_c1.
static LogicalResult verifyRangedLogits(RangedLogitsOpInterface op) {
  // largest_logits_c1
  Value input = op.getInput(), weight = op.getWeight();
  int64_t vocabulary = op.getVocabulary();
  if (auto type = shapedType(input); type.getRank() != 2)
    return op->emitOpError("expects an input [rows, in], found ") << type;
  if (failed(verifyWeight(op, input, weight, width(input), vocabulary)) ||
      failed(verifyFactors(op, {input, op.getInputScales(), op.getShiftAttr(),
                                weight, op.getWeightScales(),
                                /*mayScale=*/true})))
    return failure();
  if (!isPacked(weight) && width(weight) != vocabulary)
    return op->emitOpError("expects a vocabulary of ")
           << width(weight) << ", found " << vocabulary;
  if (op.getBias() &&
      failed(verifyVector(op, "bias", op.getBias(), vocabulary)))
    return failure();
  if (failed(verifyWeightScales(op, input, op.getWeightScales(), vocabulary)))
    return failure();
  // largest_logits_c2
  if (auto type = shapedType(op.getForbidden()); type.getRank() != 2)
    return op->emitOpError("expects forbidden ids [rows, ids], found ") << type;
  // largest_logits_c3
  if (op.getRange() % kPanelColumns != 0)
    return op->emitOpError("expects a range in multiples of ")
           << kPanelColumns << ", found " << op.getRange();
  return success();
}

/// They exist in steps alone, which have no time.
static InFlightDiagnostic refuseTime(Operation *op) {
  return op->emitOpError("chooses for the rows of a step and has no axis of "
                         "time");
}

//===----------------------------------------------------------------------===//
// largest_logits
//===----------------------------------------------------------------------===//

LogicalResult
LargestLogitsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &results) {
  int64_t ranges =
      llvm::divideCeil(adaptor.getVocabulary(), adaptor.getRange());
  if (failed(inferWithWidth(adaptor.getInput(), ranges, results)))
    return failure();
  if (!results.empty())
    results.push_back(cast<RankedTensorType>(results.front())
                          .clone(IntegerType::get(context, 32)));
  return success();
}

LogicalResult LargestLogitsOp::verify() {
  if (failed(verifyRangedLogits(*this)))
    return failure();
  // largest_logits_c4
  if (size_t found = getDestinations().size(); found != 0 && found != 2)
    return emitOpError("expects 2 destinations, found ") << found;
  for (auto [index, destination] : llvm::enumerate(getDestinations())) {
    Type element = getElementTypeOrSelf(destination.getType());
    if (index == 0 ? !element.isF32() : !element.isInteger(32))
      return emitOpError("expects destinations of f32 and i32, found ")
             << destination.getType();
    SmallVector<int64_t> shape = {shapedType(getInput()).getDimSize(0),
                                  getNumRanges()};
    if (failed(verifyDestination(*this, shape, index)))
      return failure();
  }
  return success();
}

FailureOr<int64_t> LargestLogitsOp::timeAxis(TimeAxes) {
  return refuseTime(*this);
}

//===----------------------------------------------------------------------===//
// best_logits
//===----------------------------------------------------------------------===//

LogicalResult BestLogitsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  for (Value destination : adaptor.getDestinations())
    if (auto type = dyn_cast<RankedTensorType>(destination.getType()))
      results.push_back(type);
  return success();
}

LogicalResult BestLogitsOp::verify() {
  // best_logits_c1
  if (failed(verifyRangedLogits(*this)))
    return failure();
  // best_logits_c2
  OperandRange destinations = getDestinations();
  if (destinations.size() != 4)
    return emitOpError("expects 4 destinations, found ") << destinations.size();
  int64_t best = shapedType(destinations.back()).getShape().back();
  for (auto [index, destination] : llvm::enumerate(destinations)) {
    Type element = getElementTypeOrSelf(destination.getType());
    if (index == 3 ? !element.isInteger(32) : !element.isF32())
      return emitOpError("expects destinations of f32, f32, f32 and i32, "
                         "found ")
             << destination.getType() << " as number " << index + 1;
    SmallVector<int64_t> shape = {shapedType(getInput()).getDimSize(0),
                                  getNumRanges()};
    // best_logits_c3
    if (index >= 2)
      shape.push_back(best);
    if (failed(verifyDestination(*this, shape, index)))
      return failure();
  }
  return success();
}

FailureOr<int64_t> BestLogitsOp::timeAxis(TimeAxes) {
  return refuseTime(*this);
}
