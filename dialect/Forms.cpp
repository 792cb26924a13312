#include "dialect/Forms.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

RankedTensorType heddle::dropAxis(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, type.getElementType());
}

Value heddle::cloneForStep(Operation *op, OpBuilder &builder,
                           StepContext &step) {
  auto incremental = cast<IncrementalOpInterface>(op);
  FailureOr<int64_t> axis = incremental.timeAxis(step.axes);
  assert(succeeded(axis) && "split-phases asks before it builds");
  Operation *clone = builder.clone(*op, step.mapping);
  Value result = clone->getResult(0);
  result.setType(dropAxis(cast<RankedTensorType>(result.getType()), *axis));
  return result;
}

FailureOr<int64_t> heddle::timeAxisOf(Operation *op, TimeAxes axes,
                                      unsigned varying, int64_t contracted) {
  for (auto [index, axis] : llvm::enumerate(axes))
    if (axis && index != varying)
      return op->emitOpError("cannot be evaluated position by position: ")
             << "operand #" << index << " depends on the target";
  Value operand = op->getOperand(varying);
  if (*axes[varying] >=
      cast<ShapedType>(operand.getType()).getRank() - contracted)
    return op->emitOpError("cannot be evaluated position by position: ")
           << "it works along the axis of time of operand #" << varying;
  return *axes[varying];
}

LogicalResult heddle::verifyForm(Operation *op) {
  OpOperand *destination =
      cast<DestinationOpInterface>(op).getDestinationOperand();
  Type first = op->getOperand(0).getType();
  for (Type type : op->getOperandTypes())
    if (isa<ShapedType>(type) &&
        isa<MemRefType>(type) != isa<MemRefType>(first))
      return op->emitOpError(
                 "expects operands that are all tensors or all memrefs, found ")
             << first << " and " << type;
  if (isa<MemRefType>(first)) {
    if (!destination)
      return op->emitOpError("works on memrefs and expects a destination");
    if (op->getNumResults() != 0)
      return op->emitOpError("works on memrefs and expects no result, found ")
             << op->getResult(0).getType();
    return success();
  }
  if (op->getNumResults() != 1)
    return op->emitOpError("works on tensors and expects a result");
  if (destination && destination->get().getType() != op->getResult(0).getType())
    return op->emitOpError("writes a result of type ")
           << op->getResult(0).getType() << " into a destination of type "
           << destination->get().getType();
  return success();
}

LogicalResult heddle::verifyDestination(Operation *op,
                                        ArrayRef<int64_t> shape) {
  OpOperand *destination =
      cast<DestinationOpInterface>(op).getDestinationOperand();
  if (!destination ||
      succeeded(verifyCompatibleShape(
          cast<ShapedType>(destination->get().getType()).getShape(), shape)))
    return success();
  InFlightDiagnostic error = op->emitOpError("writes a result of shape [");
  llvm::interleaveComma(shape, error, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      error << "?";
    else
      error << size;
  });
  return error << "] into a destination of type "
               << destination->get().getType();
}

void heddle::addDestinationEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  OpOperand *destination =
      cast<DestinationOpInterface>(op).getDestinationOperand();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (&operand == destination)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult heddle::reifyLeadingShape(Operation *op, OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> shape;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    shape.push_back(
        type.isDynamicDim(axis)
            ? tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0),
                                   axis)
            : OpFoldResult(builder.getIndexAttr(type.getDimSize(axis))));
  shapes.push_back(std::move(shape));
  return success();
}
