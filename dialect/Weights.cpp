#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

LogicalResult ParameterOp::verify() {
  // parameter_c1
  if (!getTensorType().hasStaticShape())
    return emitOpError("expects a static shape, found ") << getTensorType();
  // parameter_c2
  if (getTransposed() && getTensorType().getRank() != 2)
    return emitOpError("is transposed and expects rank 2, found rank ")
           << getTensorType().getRank();
  // parameter_c3
  if (getPlaced() && *getPlaced() % 64 != 0)
    return emitOpError("expects a place that is a multiple of 64, found ")
           << *getPlaced();
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("reads parameter '")
           << getParameter() << "', which is not declared";
  // weight_c1
  auto type = cast<ShapedType>(getValue().getType());
  if (type.getShape() != parameter.getTensorType().getShape()) {
    InFlightDiagnostic error = emitOpError("has type ")
                               << type << " but parameter '" << getParameter()
                               << "' is declared as "
                               << parameter.getTensorType();
    error.attachNote(parameter.getLoc()) << "declared here";
    return error;
  }
  return success();
}
