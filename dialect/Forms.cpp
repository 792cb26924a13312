#include "dialect/Forms.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
