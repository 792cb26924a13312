//===- PassDestinations.cpp - Let callers own the memory of results -------===//
//
// A result of an entry point is written where the caller wants it. On tensors
// that is a destination like any other: the argument is named as the place of
// the result, and One-Shot Bufferize proves that no copy is needed.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Support/DimNames.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_PASSDESTINATIONSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Gives an op with several results memory of its own for each.
static LogicalResult addEmptyDestinations(DestinationOpInterface op) {
  OpBuilder builder(op);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(builder, op, shapes)))
    return failure();
  SmallVector<Value> destinations;
  for (auto [shape, type] : llvm::zip_equal(shapes, op->getResultTypes()))
    destinations.push_back(tensor::EmptyOp::create(builder, op->getLoc(), shape,
                                                   getElementTypeOrSelf(type)));
  op.setDestinations(destinations);
  return success();
}

/// Lets the op that computes `value` write it to `destination`; false if it
/// writes to a place of the caller's already.
static bool setDestination(Value value, Value destination) {
  auto op = value.getDefiningOp<DestinationOpInterface>();
  if (!op)
    return false;
  if (!op.hasDestinations() && op->getNumResults() == 1) {
    op.setDestinations(destination);
    return true;
  }
  if (!op.hasDestinations() && failed(addEmptyDestinations(op)))
    return false;
  OpOperand &current =
      op.getDestinationsMutable()[cast<OpResult>(value).getResultNumber()];
  auto empty = current.get().getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return false;
  current.set(destination);
  empty.erase();
  return true;
}

/// Whether `returned` already is the buffer of one of the first `given`
/// arguments: a new state, or a result that the function was given memory for.
/// One that is returned once more has its place only if it comes last.
static bool hasPlace(OpOperand &returned, unsigned given) {
  Value value = returned.get();
  if (llvm::is_contained(returned.getOwner()->getOperands().drop_front(
                             returned.getOperandNumber() + 1),
                         value))
    return false;
  auto op = value.getDefiningOp<DestinationOpInterface>();
  auto argument =
      op && op.hasDestinations()
          ? dyn_cast<BlockArgument>(
                op.getDestinations()[cast<OpResult>(value).getResultNumber()])
          : nullptr;
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  unsigned index = argument ? argument.getArgNumber() : given;
  return function && index < given &&
         (function.getArgAttr(index, kStateAttr) ||
          function.getArgAttr(index, kOutputAttr));
}

/// What an entry point cannot be made of.
static LogicalResult checkBody(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expects one block, found ")
           << function.getBlocks().size();
  if (!isa<func::ReturnOp>(function.front().getTerminator()))
    return function.emitError("expects a body that ends in 'func.return'");
  WalkResult walked = function.walk([](CallOpInterface call) {
    call->emitOpError("calls a function, which an entry point cannot do");
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// Bufferisation may write into arguments; those of the caller's that are no
/// states it has to copy first.
static void protectInputs(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (isa<TensorType>(function.getArgument(index).getType()) &&
        !function.getArgAttr(index, kStateAttr) &&
        !function.getArgAttr(index, kOutputAttr))
      function.setArgAttr(
          index, bufferization::BufferizationDialect::kWritableAttrName,
          BoolAttr::get(function.getContext(), false));
}

static LogicalResult passDestinations(func::FuncOp function) {
  if (failed(checkBody(function)))
    return failure();
  protectInputs(function);
  // Results that are written in place can be dropped if no one else calls.
  function.setPrivate();
  Operation *terminator = function.front().getTerminator();
  Builder builder(function.getContext());
  unsigned given = function.getNumArguments();
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    if (isa<MemRefType>(value.getType()) || hasPlace(returned, given))
      continue;
    if (!isa<RankedTensorType>(value.getType()))
      return function.emitError("returns a value of type ")
             << value.getType() << ", expected a ranked tensor";
    ArrayAttr dims = namesOfDims(value);
    if (!dims)
      return failure();
    NamedAttrList attributes(
        function.getResultAttrDict(returned.getOperandNumber()));
    attributes.set(kDimsAttr, dims);
    attributes.set(kOutputAttr, builder.getUnitAttr());
    unsigned index = function.getNumArguments();
    if (failed(function.insertArgument(
            index, value.getType(),
            attributes.getDictionary(function.getContext()),
            NameLoc::get(builder.getStringAttr("out")))))
      return failure();
    BlockArgument destination = function.getArgument(index);
    if (setDestination(value, destination))
      continue;
    OpBuilder copies(terminator);
    returned.set(
        bufferization::MaterializeInDestinationOp::create(
            copies, value.getLoc(), value.getType(), value, destination)
            ->getResult(0));
  }
  return success();
}

namespace {
struct PassDestinations
    : heddle::impl::PassDestinationsPassBase<PassDestinations> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(passDestinations(function)))
        return signalPassFailure();
  }
};
} // namespace
