//===- AddRowMover.cpp - The kernel that moves rows of states -------------===//

#include "lib/Kernels/Gpu/RowMover.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_ADDROWMOVERPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

namespace {
struct AddRowMover : heddle::impl::AddRowMoverPassBase<AddRowMover> {
  void runOnOperation() override {
    auto kernels = getOperation().getOps<gpu::GPUModuleOp>();
    buildRowMover(getOperation(), llvm::range_size(kernels));
  }
};
} // namespace
