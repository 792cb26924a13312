//===- CountWork.cpp - Write down what each kernel has to do --------------===//
//
// A copy of the kernel, with the op replaced by what it counts: the masks that
// the op reads stay as long as it needs them.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_COUNTWORKPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// The one layer op of a kernel; null where it has none or several.
static WorkOpInterface layerOf(func::FuncOp kernel) {
  WorkOpInterface layer;
  bool isOnly = true;
  kernel.walk([&](WorkOpInterface op) {
    isOnly &= !layer;
    layer = op;
  });
  return isOnly ? layer : WorkOpInterface();
}

/// Removes what nothing uses any more, the last ops first.
static void eraseUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static void countWork(func::FuncOp kernel, SymbolTable &symbols) {
  func::FuncOp work = kernel.clone();
  work.setSymName((kernel.getSymName() + ".work").str());
  work->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(work.getContext(), LLVM::Linkage::Internal));
  symbols.insert(work, std::next(kernel->getIterator()));
  kernel->setAttr(kWorkAttr, FlatSymbolRefAttr::get(work));

  WorkOpInterface layer = layerOf(work);
  OpBuilder builder(layer);
  Value counts[] = {layer.buildFlops(builder), layer.buildBytes(builder)};
  layer->erase();
  Operation *terminator = work.front().getTerminator();
  builder.setInsertionPoint(terminator);
  func::ReturnOp::create(builder, work.getLoc(), counts);
  terminator->erase();
  work.setType(builder.getFunctionType(work.getArgumentTypes(),
                                       ValueRange(counts).getTypes()));
  eraseUnused(work.front());
}

namespace {
struct CountWork : heddle::impl::CountWorkPassBase<CountWork> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> kernels;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttr) && layerOf(function))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels)
      countWork(kernel, symbols);
  }
};
} // namespace
