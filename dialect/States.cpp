//===- States.cpp - Recurrences, caches and last rows ---------------------===//
//
// A recurrence depends on earlier positions only through c_(t-1). Its step form
// therefore keeps one row as the state, which it reads and writes in place: the
// result of a step is the new state. Its chunk form computes all positions at
// once, and last_rows takes the row of each sentence's last position as the
// state.
//
// Only the destination of a cache op knows how many slots there are, so a
// result has the sizes of its destination.
//
//===----------------------------------------------------------------------===//

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
    return emitOpError("expects a state after 'into' in the step form");
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

SmallVector<Value> RecurrenceOp::buildChunk(OpBuilder &builder,
                                            ChunkContext &chunk) {
  SmallVector<Value> results = cloneForChunk(*this, builder, chunk);
  Value state = chunk.states.front();
  results.push_back(LastRowsOp::create(builder, getLoc(), state.getType(),
                                       results.front(), chunk.lengths, state)
                        .getOutput());
  return results;
}

//===----------------------------------------------------------------------===//
// cache.append, cache.fill
//===----------------------------------------------------------------------===//

/// The constraints of what is written to a cache, which `what` is.
static LogicalResult verifyCache(Operation *op, StringRef what, Value written,
                                 int64_t rank, Value destination,
                                 int64_t pinned) {
  auto input = cast<ShapedType>(written.getType());
  auto cache = cast<ShapedType>(destination.getType());
  // cache_append_c1, cache_fill_c1
  if (input.getRank() != rank || cache.getRank() != 3 ||
      input.getShape().back() != cache.getDimSize(2) ||
      cache.getDimSize(1) == 0)
    return op->emitOpError("expects an input ")
           << what
           << " and a cache [caches, slots, d] of at least one slot, found "
           << input << " and " << cache;
  // cache_append_c2, cache_fill_c2
  if (input.getElementType() != cache.getElementType())
    return op->emitOpError("writes ") << input << " to a cache of type "
                                      << cache << ", expected one element type";
  // cache_append_c3, cache_fill_c3
  if (pinned < 0)
    return op->emitOpError("expects at least 0 pinned slots, found ") << pinned;
  return success();
}

LogicalResult CacheAppendOp::verify() {
  return verifyCache(*this, "[rows, d]", getInput(), /*rank=*/2,
                     getDestination(), getPinnedAttr().getInt());
}

LogicalResult CacheFillOp::verify() {
  return verifyCache(*this, "[batch, n, d]", getInput(), /*rank=*/3,
                     getDestination(), getPinnedAttr().getInt());
}

/// A result has the sizes of the state that it is written to.
static LogicalResult reifyAsState(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) {
  Value state = cast<DestinationOpInterface>(op).getDestinations().front();
  shapes.push_back(tensor::getMixedSizes(builder, op->getLoc(), state));
  return success();
}

LogicalResult
CacheAppendOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  return reifyAsState(*this, builder, shapes);
}

LogicalResult
CacheFillOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  return reifyAsState(*this, builder, shapes);
}

//===----------------------------------------------------------------------===//
// last_rows
//===----------------------------------------------------------------------===//

LogicalResult LastRowsOp::verify() {
  auto input = cast<ShapedType>(getInput().getType());
  auto state = cast<ShapedType>(getDestination().getType());
  // last_rows_c1
  if (input.getRank() == 3 && state.getRank() == 2 &&
      input.getDimSize(2) == state.getDimSize(1))
    return success();
  return emitOpError("expects an input [batch, n, d] and a state [batch, d], "
                     "found ")
         << input << " and " << state;
}

LogicalResult
LastRowsOp::reifyResultShapes(OpBuilder &builder,
                              ReifiedRankedShapedTypeDims &shapes) {
  return reifyAsState(*this, builder, shapes);
}
