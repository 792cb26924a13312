//===- DecoderMarks.cpp - From the target along its uses ------------------===//
//
// The target argument has its axis of time at 1. Each op that reads a marked
// value is asked for the axis of its results, and they are marked with it. An
// op that cannot be evaluated position by position is an error, with the
// reason: it may be a mask, lack the interface, or have a region that reads the
// target.
//
// Unmarked values that marked ops read are the border. A symbol is added behind
// everything that it reads itself, so that clones are made in order.
//
//===----------------------------------------------------------------------===//

#include "lib/Phases/DecoderMarks.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace heddle;

SmallVector<Operation *> DecoderMarks::markedOps() const {
  SmallVector<Operation *> ops;
  func::FuncOp function = decoder;
  for (Operation &op : function.front().without_terminator())
    if (op.getNumResults() > 0 && isMarked(op.getResult(0)))
      ops.push_back(&op);
  return ops;
}

SmallVector<std::optional<int64_t>> DecoderMarks::axesOf(Operation *op) const {
  SmallVector<std::optional<int64_t>> axes;
  for (Value operand : op->getOperands()) {
    auto mark = timeAxis.find(operand);
    axes.push_back(mark == timeAxis.end() ? std::optional<int64_t>()
                                          : mark->second);
  }
  return axes;
}

SmallVector<StateType> DecoderMarks::statesOf(Operation *op) const {
  SmallVector<std::optional<int64_t>> axes = axesOf(op);
  SmallVector<StateType> states =
      cast<IncrementalOpInterface>(op).stateTypes(axes);
  for (StateType &state : states)
    if (extends && isCache(state))
      state = withRoomToExtend(state);
  return states;
}

bool heddle::isCache(const StateType &state) {
  return !state.type.hasStaticShape();
}

bool DecoderMarks::hasCaches() const {
  return llvm::any_of(markedOps(), [&](Operation *op) {
    return llvm::any_of(statesOf(op), isCache);
  });
}

/// Operands, then the values that regions capture: all that an op reads.
static SetVector<Value> valuesReadBy(Operation *op) {
  SetVector<Value> values(llvm::from_range, op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// A weight or a mask: cloned where it is needed instead of being stored.
static bool isSymbolic(Operation *op) {
  return isa<WeightOp, MaskOpInterface>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

/// Ids [batch, length], or vectors [batch, length, width] of f32.
static bool isTarget(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() < 2 || !tensor.isDynamicDim(0) ||
      !tensor.isDynamicDim(1))
    return false;
  if (tensor.getRank() == 2)
    return tensor.getElementType().isInteger(32);
  return tensor.getRank() == 3 && !tensor.isDynamicDim(2) &&
         tensor.getElementType().isF32();
}

namespace {
/// Fills the marks of a decoder.
class Marker {
public:
  explicit Marker(DecoderMarks &marks) : marks(marks), decoder(marks.decoder) {}

  LogicalResult findTarget();
  LogicalResult markTime();

private:
  LogicalResult collectBorder(Value value);

  DecoderMarks &marks;
  func::FuncOp decoder;
};
} // namespace

LogicalResult Marker::findTarget() {
  if (!decoder.getBody().hasOneBlock())
    return decoder.emitError("has a step form and expects one block, found ")
           << decoder.getBlocks().size();
  for (BlockArgument argument : decoder.getArguments()) {
    if (!decoder.getArgAttr(argument.getArgNumber(), kTargetAttr))
      continue;
    if (marks.target)
      return decoder.emitError("expects one argument with '")
             << kTargetAttr << "', found it at arguments #"
             << marks.target.getArgNumber() << " and #"
             << argument.getArgNumber();
    if (!isTarget(argument.getType()))
      return decoder.emitError("expects the argument with '")
             << kTargetAttr
             << "' to be tensor<?x?xi32>, or tensor<?x?xNxf32> of a static "
                "width N, found "
             << argument.getType();
    marks.target = argument;
    marks.timeAxis[argument] = 1;
  }
  if (marks.target)
    return success();
  return decoder.emitError("has a step form but no argument with '")
         << kTargetAttr << "'";
}

LogicalResult Marker::markTime() {
  auto isMarked = [&](Value value) { return marks.isMarked(value); };
  for (Operation &op : decoder.front().without_terminator()) {
    SetVector<Value> read = valuesReadBy(&op);
    if (llvm::none_of(read, isMarked))
      continue;
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    if (llvm::any_of(captured, isMarked))
      return op.emitOpError("cannot be evaluated position by position: one "
                            "of its regions reads a value that depends on "
                            "the target");
    if (isa<MaskOpInterface>(op))
      return op.emitOpError("cannot be evaluated position by position: it "
                            "reads a value that depends on the target, but a "
                            "step has only the value of its own position");
    auto incremental = dyn_cast<IncrementalOpInterface>(op);
    if (!incremental)
      return op.emitOpError("cannot be evaluated position by position: it "
                            "does not implement IncrementalOpInterface");
    FailureOr<int64_t> axis = incremental.timeAxis(marks.axesOf(&op));
    if (failed(axis))
      return failure();
    auto layer = dyn_cast<DestinationOpInterface>(op);
    if (layer && layer.hasDestinations())
      return op.emitOpError("cannot be evaluated position by position: its "
                            "result has a destination already");
    for (Value result : op.getResults())
      marks.timeAxis[result] = *axis;
    for (Value value : read)
      if (!isMarked(value) && failed(collectBorder(value)))
        return failure();
  }
  for (Value result : decoder.front().getTerminator()->getOperands())
    if (!isMarked(result))
      return decoder.emitError(
          "has a step form but returns a value that does not depend on the "
          "target");
  return success();
}

LogicalResult Marker::collectBorder(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    marks.passedThrough.insert(value);
    return success();
  }
  if (!isSymbolic(op)) {
    if (!isa<RankedTensorType>(value.getType()))
      return op->emitOpError("cannot be prepared: the step reads its result "
                             "of type ")
             << value.getType() << ", expected a tensor";
    marks.prepared.insert(value);
    return success();
  }
  // Masks are a graph: what several of them are made of is collected once.
  if (marks.cloned.contains(op))
    return success();
  for (Value read : valuesReadBy(op))
    if (failed(collectBorder(read)))
      return failure();
  marks.cloned.insert(op);
  return success();
}

FailureOr<DecoderMarks> heddle::markDecoder(func::FuncOp decoder) {
  DecoderMarks marks;
  marks.decoder = decoder;
  Marker marker(marks);
  if (failed(marker.findTarget()) || failed(marker.markTime()))
    return failure();
  return marks;
}
