//===- Projection.cpp - Sequences of a fixed length -----------------------===//
//
// Verifiers check the numbered constraints of Projection.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/LayerChecks.h"

using namespace mlir;
using namespace heddle;

int64_t ProjectSequenceOp::getHeads() {
  auto projection = shapedType(getProjection());
  return projection.getRank() == 3 ? projection.getDimSize(0) : 1;
}
int64_t ProjectSequenceOp::getRows() {
  return shapedType(getProjection()).getShape().take_back(2).front();
}
int64_t ProjectSequenceOp::getLongest() { return width(getProjection()); }

LogicalResult
ProjectSequenceOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto projection = shapedType(adaptor.getProjection());
  // Other ranks are the verifier's to refuse.
  if (!input || input.getRank() != 3 || projection.getRank() < 2)
    return success(!input);
  results.push_back(input.clone({input.getDimSize(0),
                                 projection.getShape().take_back(2).front(),
                                 input.getDimSize(2)}));
  return success();
}

LogicalResult ProjectSequenceOp::verify() {
  auto input = shapedType(getInput()), projection = shapedType(getProjection());
  // project_sequence_c1
  if (input.getRank() != 3)
    return emitOpError("expects an input of rank 3, found ") << input;
  if (getLengths() &&
      failed(verifyPerSentence(*this, getInput(), getLengths())))
    return failure();
  // project_sequence_c2
  int64_t rank = projection.getRank();
  if ((rank != 2 && rank != 3) || !projection.hasStaticShape() ||
      llvm::is_contained(projection.getShape(), 0))
    return emitOpError(
               "expects a projection [rows, positions] or [heads, rows, "
               "positions] of static shape, found ")
           << projection;
  if (width(getInput()) % getHeads() != 0)
    return emitOpError("expects a width that ")
           << getHeads() << " heads divide, found " << input;
  // project_sequence_c3
  int64_t positions = input.getDimSize(1);
  if (!ShapedType::isDynamic(positions) && positions > getLongest())
    return emitOpError("projects ")
           << positions << " positions by a matrix for " << getLongest();
  return verifyDestination(*this,
                           {input.getDimSize(0), getRows(), width(getInput())});
}

FailureOr<int64_t> ProjectSequenceOp::timeAxis(TimeAxes) {
  return emitOpError("cannot be evaluated position by position: each projected "
                     "row mixes all positions, so that every new one changes "
                     "what earlier queries have read");
}
