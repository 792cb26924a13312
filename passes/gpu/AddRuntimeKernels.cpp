//===- AddRuntimeKernels.cpp - Kernels that the runtime starts ------------===//
//
// The runtime finds these kernels by the names of KernelAbi.h; entry points
// start theirs by number. So they are appended, and the numbers that
// launch-kernels gave stay what they are.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Runtime/RuntimeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_ADDRUNTIMEKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct AddRuntimeKernels
    : heddle::impl::AddRuntimeKernelsPassBase<AddRuntimeKernels> {
  void runOnOperation() override {
    auto kernels = getOperation().getOps<gpu::GPUModuleOp>();
    int64_t number = llvm::range_size(kernels);
    for (auto build : {buildRowMover, buildHistoryWriter, buildRangeMerger})
      build(getOperation(), number++);
  }
};
} // namespace
