//===- EmitKernels.cpp - Replace layer ops by calls of generated kernels --===//
//
// Kernels are found by name: a shape has one name, and the module's symbol
// table is the memory of what was built.
//
//===----------------------------------------------------------------------===//

#include "dialect/Transformer.h"
#include "lib/Kernels/CandidateKernel.h"
#include "lib/Kernels/LinearKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringMap.h"

namespace heddle {
#define GEN_PASS_DEF_EMITKERNELSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static bool isDense(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getLayout().isIdentity();
}

/// A dense memref [..., d] as [rows, d].
static Value collapseRows(OpBuilder &builder, Location loc, Value memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  if (rank == 2)
    return memref;
  ReassociationIndices rows = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  return memref::CollapseShapeOp::create(
      builder, loc, memref,
      SmallVector<ReassociationIndices>{rows, {rank - 1}});
}

namespace {
/// A kernel and the arguments of a call.
struct KernelCall {
  std::string kernel;
  llvm::function_ref<func::FuncOp(OpBuilder &, Location)> build;
  SmallVector<Value> arguments;
};

struct EmitKernels : heddle::impl::EmitKernelsPassBase<EmitKernels> {
  using Base::Base;

  /// Replaces `op` by a call; the kernel is built at its first use.
  void replaceByCall(Operation *op, const KernelCall &call,
                     SymbolTable &symbols) {
    func::FuncOp &kernel = kernels[call.kernel];
    if (!kernel) {
      OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
      kernel =
          call.build(builder, NameLoc::get(builder.getStringAttr(call.kernel)));
      kernel->setAttr(kKernelAttr, builder.getUnitAttr());
      symbols.insert(kernel);
      ++numKernels;
    }
    OpBuilder builder(op);
    func::CallOp::create(builder, op->getLoc(), kernel, call.arguments);
    op->erase();
    ++numCalls;
  }

  void emit(LinearOp op, const IsaLevel &isa, SymbolTable &symbols) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    LinearShape shape{weight.getDimSize(0), weight.getDimSize(1),
                      bool(op.getBias())};
    OpBuilder builder(op);
    SmallVector<Value> arguments = {
        collapseRows(builder, op.getLoc(), op.getInput()), op.getWeight()};
    if (op.getBias())
      arguments.push_back(op.getBias());
    arguments.push_back(
        collapseRows(builder, op.getLoc(), op.getDestination()));
    auto build = [&](OpBuilder &builder, Location loc) {
      return buildLinearKernel(builder, loc, shape, isa);
    };
    replaceByCall(op, {nameOfLinearKernel(shape), build, arguments}, symbols);
  }

  void emit(CandidateLogitsOp op, const IsaLevel &isa, SymbolTable &symbols) {
    int64_t width = cast<MemRefType>(op.getInput().getType()).getShape().back();
    auto build = [&](OpBuilder &builder, Location loc) {
      return buildCandidateKernel(builder, loc, width, isa);
    };
    replaceByCall(op,
                  {nameOfCandidateKernel(width),
                   build,
                   {op.getInput(), op.getRows(), op.getBias(), op.getCounts(),
                    op.getSentences(), op.getDestination()}},
                  symbols);
  }

  /// By the names of their shapes.
  llvm::StringMap<func::FuncOp> kernels;

  void runOnOperation() override {
    kernels.clear();
    llvm::Expected<IsaLevel> level = getIsaLevel(isa);
    if (!level) {
      getOperation().emitError(llvm::toString(level.takeError()));
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    SmallVector<Operation *> layers;
    getOperation().walk([&](Operation *op) {
      auto candidates = dyn_cast<CandidateLogitsOp>(op);
      auto linear = dyn_cast<LinearOp>(op);
      bool hasEmitter = (linear && linear.isPlain()) ||
                        (candidates && candidates.getSentences());
      if (hasEmitter && llvm::all_of(op->getOperands(), isDense))
        layers.push_back(op);
    });
    for (Operation *op : layers) {
      if (auto linear = dyn_cast<LinearOp>(op))
        emit(linear, *level, symbols);
      else
        emit(cast<CandidateLogitsOp>(op), *level, symbols);
    }
  }
};
} // namespace
