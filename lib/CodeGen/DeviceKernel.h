//===- DeviceKernel.h - A function that runs on a GPU -----------*- C++ -*-===//
//
// A kernel stands in a `gpu.module` of its own, so that it compiles alone. Its
// parameter is the structure that its launch points to (KernelAbi.h), which the
// device copies.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_DEVICEKERNEL_H
#define HEDDLE_LIB_CODEGEN_DEVICEKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>

namespace heddle {

/// What runs an iteration of a parallel loop if that is more than a thread.
struct BlockShape {
  int64_t threads;
  /// Of dynamic shared memory, which begins at the symbol kSharedMemory.
  int64_t sharedBytes = 0;
  /// As many as a multiprocessor has registers for at once, which bounds those
  /// of a thread; the more, the more memory accesses are under way.
  int64_t blocks = 1;
  /// Blocks, side by side in the grid, that run at the same time and reach into
  /// each other's shared memory: the loop has a multiple of them.
  int64_t cluster = 1;
  /// Whether blocks stay: of a loop's iterations only as many of the first ones
  /// run as the device has room for at once, a multiple of the cluster, and do
  /// what there is for all of them.
  bool stays = false;
};
inline constexpr llvm::StringLiteral kSharedMemory = "shared_memory";

/// Declares shared memory, of a size that launches say, in a module of a kernel
/// or, for bodies that will be kernels, of the host.
void declareSharedMemory(mlir::Block *module, mlir::Location loc);

/// Says of a loop of one dimension that each iteration is a block's: its body
/// is what one thread of it does.
void setBlockShape(mlir::scf::ParallelOp loop, const BlockShape &shape);
std::optional<BlockShape> blockShapeOf(mlir::scf::ParallelOp loop);

/// Has a loop stay one, in PTX, too, which ptxas would unroll: what its rounds
/// load and no loop around it changes would stand in front of that, in
/// registers.
void keepLoop(mlir::scf::ForOp loop);
/// The attribute that says so; branches get it from loops.
inline constexpr llvm::StringLiteral kLoopAnnotationAttr =
    "llvm.loop_annotation";

/// What a launch has to know of a kernel.
struct LaunchShape {
  /// Among the kernels of a module.
  int64_t number;
  BlockShape block;
  /// Whether no emitter wrote it: each thread runs the reference loops.
  bool isGeneric = false;
};

/// `function` has one argument, a pointer, and no body yet.
struct DeviceKernel {
  mlir::gpu::GPUModuleOp module;
  mlir::func::FuncOp function;
};

/// Creates an empty kernel; if its name is taken, the symbol table that its
/// module is inserted in has to give another one.
DeviceKernel createDeviceKernel(mlir::OpBuilder &builder, mlir::Location loc,
                                llvm::StringRef name, mlir::Type parameter,
                                const LaunchShape &shape);

/// What createDeviceKernel was told.
LaunchShape shapeOf(mlir::gpu::GPUModuleOp module);
LaunchShape shapeOf(mlir::DictionaryAttr launch);

/// A module of the kernel alone, which compiles by itself.
mlir::OwningOpRef<mlir::ModuleOp> copyOfDevice(mlir::gpu::GPUModuleOp module);

/// The number of this block, an index, and of this thread among all of the
/// grid.
mlir::Value blockOfGrid(mlir::OpBuilder &builder, mlir::Location loc);
mlir::Value threadOfGrid(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t threads);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_DEVICEKERNEL_H
