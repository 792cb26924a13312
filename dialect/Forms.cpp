//===- Forms.cpp - Checks and clones of the forms of a layer op -----------===//
//
// The step form of an op is its clone with results that lose the axis of time.
// That is right only if the op computes each position by itself, so timeAxisOf
// checks three things: all operands that vary have time at the same axis, no
// other operand depends on the target, and the op does not contract that axis.
//
// The type of the first operand tells tensors from memrefs. verifyForm refuses
// a mixture: an op on tensors has results, and an op on memrefs has
// destinations and no result.
//
//===----------------------------------------------------------------------===//

#include "dialect/Forms.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace heddle;

RankedTensorType heddle::dropAxis(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return RankedTensorType::get(shape, type.getElementType());
}

StateType heddle::withRoomToExtend(StateType state) {
  if (!state.maxSlots)
    return state;
  int64_t latest = *state.maxSlots - state.pinned;
  state.pinned = llvm::alignTo(state.pinned, kQueryBlock);
  latest = llvm::alignTo(latest + kExtendRows, kQueryBlock);
  // A ring that reaches over all positions never wraps.
  state.maxSlots = std::min<int64_t>(state.pinned + latest,
                                     std::numeric_limits<int32_t>::max());
  return state;
}

SmallVector<Value> heddle::cloneForStep(Operation *op, OpBuilder &builder,
                                        StepContext &step) {
  auto incremental = cast<IncrementalOpInterface>(op);
  FailureOr<int64_t> axis = incremental.timeAxis(step.axes);
  assert(succeeded(axis) && "split-phases asks before it builds");
  Operation *clone = builder.clone(*op, step.mapping);
  for (Value result : clone->getResults())
    result.setType(dropAxis(cast<RankedTensorType>(result.getType()), *axis));
  return clone->getResults();
}

SmallVector<Value> heddle::cloneForChunk(Operation *op, OpBuilder &builder,
                                         ChunkContext &chunk) {
  return builder.clone(*op, chunk.mapping)->getResults();
}

/// The clone, of whose results batch and n are one dimension.
static SmallVector<Value> cloneRagged(Operation *op, OpBuilder &builder,
                                      RaggedContext &ragged) {
  Operation *clone = builder.clone(*op, ragged.mapping);
  for (Value result : clone->getResults())
    result.setType(dropAxis(cast<RankedTensorType>(result.getType()), 1));
  return clone->getResults();
}

FailureOr<SmallVector<Value>>
heddle::cloneRows(Operation *op, OpBuilder &builder, RaggedContext &ragged) {
  SmallVector<Value> rows = cast<LayerOpInterface>(op).getRowInputs();
  if (rows.empty() ||
      !llvm::all_of(rows, [&](Value each) { return ragged.isRagged(each); }))
    return failure();
  return cloneRagged(op, builder, ragged);
}

FailureOr<SmallVector<Value>> heddle::cloneAtPositions(Operation *op,
                                                       OpBuilder &builder,
                                                       RaggedContext &ragged) {
  SmallVector<std::optional<int64_t>> axes;
  for (Value operand : op->getOperands())
    axes.push_back(ragged.isRagged(operand) ? std::optional(1) : std::nullopt);
  StepContext step{ragged.mapping};
  step.axes = axes;
  step.positions = ragged.positions;
  return cast<IncrementalOpInterface>(op).buildStep(builder, step);
}

FailureOr<int64_t> heddle::timeAxisOf(Operation *op, TimeAxes axes,
                                      ArrayRef<unsigned> varying,
                                      int64_t contracted) {
  auto refuse = [&] {
    return op->emitOpError("cannot be evaluated position by position: ");
  };
  for (auto [index, axis] : llvm::enumerate(axes))
    if (bool(axis) != llvm::is_contained(varying, index))
      return refuse() << "operand #" << index
                      << (axis ? " depends" : " does not depend")
                      << " on the target";
  int64_t axis = *axes[varying.front()];
  for (unsigned index : varying)
    if (axes[index] != axis)
      return refuse() << "time is axis " << axis << " of one operand and axis "
                      << *axes[index] << " of the other";
  Value operand = op->getOperand(varying.front());
  if (axis >= cast<ShapedType>(operand.getType()).getRank() - contracted)
    return refuse() << "it works along the axis of time of operand #"
                    << varying.front();
  return axis;
}

LogicalResult heddle::verifyForm(Operation *op) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op).getDestinations();
  Type first = op->getOperand(0).getType();
  for (Type type : op->getOperandTypes())
    if (isa<ShapedType>(type) &&
        isa<MemRefType>(type) != isa<MemRefType>(first))
      return op->emitOpError(
                 "expects operands that are all tensors or all memrefs, found ")
             << first << " and " << type;
  if (isa<MemRefType>(first)) {
    if (destinations.empty())
      return op->emitOpError("works on memrefs and expects a destination");
    if (op->getNumResults() != 0)
      return op->emitOpError("works on memrefs and expects no result, found ")
             << op->getResult(0).getType();
    return success();
  }
  if (op->getNumResults() == 0)
    return op->emitOpError("works on tensors and expects a result");
  if (destinations.empty())
    return success();
  if (destinations.size() != op->getNumResults())
    return op->emitOpError("expects a destination for each of ")
           << op->getNumResults() << " results, found " << destinations.size();
  for (auto [destination, result] :
       llvm::zip_equal(destinations, op->getResults()))
    if (destination.getType() != result.getType())
      return op->emitOpError("writes a result of type ")
             << result.getType() << " into a destination of type "
             << destination.getType();
  return success();
}

LogicalResult heddle::verifyDestination(Operation *op, ArrayRef<int64_t> shape,
                                        unsigned index) {
  OperandRange destinations =
      cast<DestinationOpInterface>(op).getDestinations();
  if (index >= destinations.size())
    return success();
  Type type = destinations[index].getType();
  if (succeeded(
          verifyCompatibleShape(cast<ShapedType>(type).getShape(), shape)))
    return success();
  InFlightDiagnostic error = op->emitOpError("writes a result of shape [");
  llvm::interleaveComma(shape, error, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      error << "?";
    else
      error << size;
  });
  return error << "] into a destination of type " << type;
}

void heddle::addDestinationEffects(
    Operation *op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto layer = cast<DestinationOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (layer.isDestination(operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult heddle::reifyLeadingShape(Operation *op, OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  for (Type result : op->getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    SmallVector<OpFoldResult> shape;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      shape.push_back(
          type.isDynamicDim(axis)
              ? tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0),
                                     axis)
              : OpFoldResult(builder.getIndexAttr(type.getDimSize(axis))));
    shapes.push_back(std::move(shape));
  }
  return success();
}
