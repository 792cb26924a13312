//===- BufferMasks.cpp - Let masks read buffers ---------------------------===//
//
// A mask stays what it is while everything around it moves to memory: only what
// it reads becomes a buffer. MaskOpInterface is all that this asks for, so that
// a mask of a plugin may have operands, too.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace heddle {
#define GEN_PASS_DEF_BUFFERMASKSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// The tensors that an op or its regions read.
static SetVector<Value> tensorsReadBy(Operation *op) {
  SetVector<Value> values(llvm::from_range, op->getOperands());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  values.remove_if(
      [](Value value) { return !isa<RankedTensorType>(value.getType()); });
  return values;
}

static void readBuffers(Operation *mask) {
  OpBuilder builder(mask);
  for (Value tensor : tensorsReadBy(mask)) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Value buffer = bufferization::ToBufferOp::create(
        builder, mask->getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()), tensor,
        /*read_only=*/true);
    mask->replaceUsesOfWith(tensor, buffer);
    for (Region &region : mask->getRegions())
      replaceAllUsesInRegionWith(tensor, buffer, region);
  }
}

namespace {
struct BufferMasks : heddle::impl::BufferMasksPassBase<BufferMasks> {
  void runOnOperation() override {
    getOperation()->walk([](MaskOpInterface mask) { readBuffers(mask); });
  }
};
} // namespace
