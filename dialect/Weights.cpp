#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

LogicalResult
SourceAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   StringRef file, int64_t offset, Encoding) {
  if (offset < 0)
    return emitError() << "expects an offset of at least 0 into '" << file
                       << "', found " << offset;
  return success();
}

LogicalResult ParameterOp::verify() {
  // parameter_c1
  if (!getTensorType().hasStaticShape())
    return emitOpError("expects a static shape, found ") << getTensorType();
  constexpr int64_t limit = int64_t(1) << 40;
  int64_t elements = 1;
  for (int64_t size : getTensorType().getShape()) {
    if (size != 0 && elements > limit / size)
      return emitOpError("expects at most ")
             << limit << " elements, found " << getTensorType();
    elements *= size;
  }
  // parameter_c2
  if (getTransposed() && !getPacked() && getTensorType().getRank() != 2)
    return emitOpError("is transposed and expects rank 2, found rank ")
           << getTensorType().getRank();
  // parameter_c3
  if (IntegerAttr placed = getPlacedAttr();
      placed && (placed.getInt() < 0 || placed.getInt() % 64 != 0))
    return emitOpError("expects a place that is a multiple of 64, found ")
           << placed.getInt();
  // parameter_c4
  if (bool(getSource()) + bool(getParts()) + getZeros() > 1)
    return emitOpError("expects one of a source, parts and zeros");
  if (!isStored() && getTransposed())
    return emitOpError("has parts or zeros and cannot be transposed");
  // parameter_c6
  if (FloatAttr factor = getFactorAttr();
      factor && !factor.getValue().isFinite())
    return emitOpError("expects a finite factor, found ")
           << factor.getValueAsDouble();
  // parameter_c7
  if (std::optional<ArrayRef<int64_t>> parts = getPacked()) {
    ArrayRef<int64_t> shape = getTensorType().getShape();
    int64_t panels = 0;
    for (int64_t columns : *parts) {
      if (columns < 1)
        return emitOpError("expects parts of at least 1 column, found ")
               << columns;
      panels += llvm::divideCeil(columns, kPanelColumns);
    }
    if (shape.size() != 3 || shape[0] != panels || shape[2] != kPanelColumns)
      return emitOpError("expects panels [")
             << panels << ", in, " << kPanelColumns << "], found "
             << getTensorType();
  }
  return success();
}

SmallVector<ParameterOp, 0> ParameterOp::getPartOps() {
  SmallVector<ParameterOp, 0> parts;
  if (getParts())
    for (auto name : getPartsAttr().getAsRange<FlatSymbolRefAttr>())
      parts.push_back(
          SymbolTable::lookupNearestSymbolFrom<ParameterOp>(*this, name));
  return parts;
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getParts())
    return success();
  // parameter_c5
  auto type = getTensorType().clone(getLogicalShape());
  int64_t columns = 0;
  for (auto name : getPartsAttr().getAsRange<FlatSymbolRefAttr>()) {
    auto part = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name);
    // A part that stands before cannot be made of this one.
    if (!part || part->getBlock() != (*this)->getBlock() ||
        !part->isBeforeInBlock(*this))
      return emitOpError("has the part '")
             << name.getValue() << "', which is not declared before it";
    RankedTensorType partType = part.getTensorType();
    if (partType.getRank() == 0 || type.getRank() == 0 ||
        partType.getShape().drop_back() != type.getShape().drop_back())
      return emitOpError("of type ")
             << type << " has the part '" << name.getValue() << "' of type "
             << partType << ", expected the same leading dimensions";
    columns += partType.getShape().back();
  }
  if (getParts()->empty() || columns != type.getShape().back())
    return emitOpError("of type ")
           << type << " has parts of " << columns << " columns";
  return success();
}

SmallVector<int64_t> ParameterOp::getLogicalShape() {
  ArrayRef<int64_t> shape = getTensorType().getShape();
  if (std::optional<ArrayRef<int64_t>> parts = getPacked())
    return {shape[1], llvm::sum_of(*parts)};
  return SmallVector<int64_t>(shape);
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
