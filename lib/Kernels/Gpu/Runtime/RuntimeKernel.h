//===- RuntimeKernel.h - A kernel that the runtime starts -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_RUNTIME_RUNTIMEKERNEL_H
#define HEDDLE_LIB_KERNELS_GPU_RUNTIME_RUNTIMEKERNEL_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heddle {

/// What such a kernel is.
struct RuntimeKernelShape {
  llvm::StringRef name;
  /// Among the kernels of a module.
  int64_t number;
  /// Of a block.
  int64_t threads;
  /// Its parameter, a structure of KernelAbi.h: words of 8 bytes, mostly
  /// addresses, and behind them words of 4.
  int64_t wideFields, fields;
};

/// Adds a kernel to a module; what is built with code() until the end of its
/// life is what a thread does.
class RuntimeKernel {
public:
  RuntimeKernel(mlir::ModuleOp module, const RuntimeKernelShape &shape);
  ~RuntimeKernel();
  RuntimeKernel(const RuntimeKernel &) = delete;

  BlockCode &code() { return body; }
  /// A field of the parameter: i64 or, behind the wide ones, i32.
  mlir::Value load(int32_t field);
  /// Where an address points, in the device's memory.
  mlir::Value pointerTo(int32_t field);
  /// The number of this thread in the grid, i32.
  mlir::Value threadOfGrid();

private:
  mlir::OpBuilder builder;
  BlockCode body;
  mlir::LLVM::LLVMStructType type;
  mlir::Value parameter;
};

// Each adds the kernel that KernelAbi.h calls so, as number `number`.
/// HEDDLE_MOVE_ROWS.
void buildRowMover(mlir::ModuleOp module, int64_t number);
/// HEDDLE_WRITE_HISTORY.
void buildHistoryWriter(mlir::ModuleOp module, int64_t number);
/// HEDDLE_MERGE_RANGES.
void buildRangeMerger(mlir::ModuleOp module, int64_t number);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_RUNTIME_RUNTIMEKERNEL_H
