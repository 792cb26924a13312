#include "dialect/Transformer.h"

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// recurrence
//===----------------------------------------------------------------------===//

LogicalResult RecurrenceOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &results) {
  if (isa<RankedTensorType>(adaptor.getForget().getType()))
    results.push_back(adaptor.getForget().getType());
  return success();
}

LogicalResult RecurrenceOp::verify() {
  auto forget = cast<ShapedType>(getForget().getType());
  auto value = cast<ShapedType>(getValue().getType());
  // recurrence_c1
  int64_t rank = getStep() ? 2 : 3;
  if (forget.getShape() != value.getShape() || forget.getRank() != rank)
    return emitOpError("expects operands of one shape and rank ")
           << rank << ", found " << forget << " and " << value;
  // recurrence_c2
  if (getStep() && !getDestination())
    return emitOpError("expects a state behind 'into' in the step form");
  return verifyDestination(*this, forget.getShape());
}

bool RecurrenceOp::isStep() { return getStep(); }

/// The state c_(t-1).
bool RecurrenceOp::readsDestinations() { return getStep(); }

FailureOr<int64_t> RecurrenceOp::timeAxis(TimeAxes axes) {
  if (axes[0] == 1 && axes[1] == 1)
    return 1;
  return emitOpError("cannot be evaluated position by position: it runs along "
                     "axis 1, which is not the axis of time of both operands");
}

SmallVector<StateType> RecurrenceOp::stateTypes(TimeAxes axes) {
  auto type = cast<RankedTensorType>(getForget().getType());
  return {
      {RankedTensorType::get(type.getShape().back(), type.getElementType())}};
}

SmallVector<Value> RecurrenceOp::buildStep(OpBuilder &builder,
                                           StepContext &step) {
  Value cell =
      RecurrenceOp::create(builder, getLoc(), step.lookup(getForget()),
                           step.lookup(getValue()), step.states.front(),
                           /*step=*/builder.getUnitAttr())
          .getOutput();
  return {cell, cell};
}

//===----------------------------------------------------------------------===//
// cache.append
//===----------------------------------------------------------------------===//

LogicalResult CacheAppendOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  auto cache = cast<ShapedType>(getDestination().getType());
  // cache_append_c1
  if (input.getRank() != 2 || cache.getRank() != 3 ||
      input.getDimSize(1) != cache.getDimSize(2) || cache.getDimSize(1) == 0)
    return emitOpError("expects an input [rows, d] and a cache [rows, slots, "
                       "d] of at least one slot, found ")
           << input << " and " << cache;
  // cache_append_c2
  if (input.getElementType() != cache.getElementType())
    return emitOpError("appends ") << input << " to a cache of type " << cache
                                   << ", expected one element type";
  // cache_append_c3
  if (int64_t pinned = getPinnedAttr().getInt(); pinned < 0)
    return emitOpError("expects no fewer than 0 pinned slots, found ")
           << pinned;
  return success();
}

LogicalResult
CacheAppendOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getDestination()));
  return success();
}
