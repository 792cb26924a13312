//===- PassDestinations.cpp - Let callers own the memory of results -------===//
//
// A result of an entry point is written where the caller wants it. On tensors
// that is a destination like any other: the argument is named as the place of
// the result, and One-Shot Bufferize proves that no copy is needed.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/CodeGen/DimNames.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_PASSDESTINATIONSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// The op that computes `value` and has no destination yet; null if none.
static DestinationOpInterface openDestination(Value value) {
  auto op = value.getDefiningOp<DestinationOpInterface>();
  return op && !op.getDestinationOperand() ? op : DestinationOpInterface();
}

/// Whether `value` already is the buffer of an argument: a new state.
static bool isState(Value value) {
  auto op = value.getDefiningOp<DestinationOpInterface>();
  OpOperand *destination = op ? op.getDestinationOperand() : nullptr;
  auto argument =
      destination ? dyn_cast<BlockArgument>(destination->get()) : nullptr;
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), kStateAttr);
}

static LogicalResult passDestinations(func::FuncOp function) {
  Operation *terminator = function.front().getTerminator();
  Builder builder(function.getContext());
  for (OpOperand &returned : terminator->getOpOperands()) {
    Value value = returned.get();
    if (!isa<RankedTensorType>(value.getType()) || isState(value))
      continue;
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
    if (DestinationOpInterface op = openDestination(value)) {
      op.setDestination(destination);
      continue;
    }
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
