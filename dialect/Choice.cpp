//===- Choice.cpp - largest_logits ----------------------------------------===//
//
// Verifiers check the numbered constraints of Choice.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

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
  // largest_logits_c1
  if (auto type = shapedType(getInput()); type.getRank() != 2)
    return emitOpError("expects an input [rows, in], found ") << type;
  if (failed(verifyWeight(*this, getWeight(), width(getInput()),
                          getVocabulary())) ||
      failed(verifyFactors(*this, {getInput(), getInputScales(), getShiftAttr(),
                                   getWeight(), getWeightScales()})))
    return failure();
  int64_t vocabulary = getVocabulary();
  if (!isPacked(getWeight()) && width(getWeight()) != vocabulary)
    return emitOpError("expects a vocabulary of ")
           << width(getWeight()) << ", found " << vocabulary;
  if (getBias() && failed(verifyVector(*this, "bias", getBias(), vocabulary)))
    return failure();
  if (getWeightScales() && failed(verifyVector(*this, "the weight's scale",
                                               getWeightScales(), vocabulary)))
    return failure();
  // largest_logits_c2
  if (auto type = shapedType(getForbidden()); type.getRank() != 2)
    return emitOpError("expects forbidden ids [rows, ids], found ") << type;
  // largest_logits_c3
  if (getRange() % kPanelColumns != 0)
    return emitOpError("expects a range in multiples of ")
           << kPanelColumns << ", found " << getRange();
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

/// It exists in steps alone, which have no time.
FailureOr<int64_t> LargestLogitsOp::timeAxis(TimeAxes) {
  return emitOpError("chooses for the rows of a step and has no axis of time");
}
