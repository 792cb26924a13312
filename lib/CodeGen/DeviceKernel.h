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
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace heddle {

/// What a launch has to know of a kernel.
struct LaunchShape {
  /// Among the kernels of a module.
  int64_t number;
  /// Of a block.
  int64_t threads;
  /// Of dynamic shared memory.
  int64_t sharedBytes = 0;
};

/// `function` has one argument, a pointer, and no body yet.
struct DeviceKernel {
  mlir::gpu::GPUModuleOp module;
  mlir::func::FuncOp function;
};

/// Creates an empty kernel; where its name is taken, the symbol table that its
/// module is inserted in has to give another one.
DeviceKernel createDeviceKernel(mlir::OpBuilder &builder, mlir::Location loc,
                                llvm::StringRef name, mlir::Type parameter,
                                const LaunchShape &shape);

/// What createDeviceKernel was told, and the bytes of the parameter.
LaunchShape shapeOf(mlir::gpu::GPUModuleOp module);
LaunchShape shapeOf(mlir::DictionaryAttr launch);
int64_t parameterBytesOf(mlir::gpu::GPUModuleOp module);

/// A module of the kernel alone, which compiles by itself.
mlir::OwningOpRef<mlir::ModuleOp> copyOfDevice(mlir::gpu::GPUModuleOp module);

/// The number of this thread among all of the grid, an index.
mlir::Value threadOfGrid(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t threads);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_DEVICEKERNEL_H
