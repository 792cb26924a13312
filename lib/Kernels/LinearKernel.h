//===- LinearKernel.h - Kernels of linear for f32 vectors -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEARKERNEL_H
#define HEDDLE_LIB_KERNELS_LINEARKERNEL_H

#include "lib/CodeGen/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <string>

namespace heddle {

/// What a kernel of y = x W + b is specialised for.
struct LinearShape {
  /// W is [depth, columns], row-major.
  int64_t depth, columns;
  bool hasBias;

  bool operator==(const LinearShape &other) const {
    return depth == other.depth && columns == other.columns &&
           hasBias == other.hasBias;
  }
};

/// "linear_256x1536_bias".
std::string nameOfLinearKernel(const LinearShape &shape);

/// Builds, at the builder's insertion point, the kernel
///
///   (x : memref<?x depth>, W : memref<depth x columns>, [b : memref<columns>],
///    y : memref<?x columns>)
///
/// all f32, row-major and dense. Each element of y is the sum over k,
/// ascending, of one fused multiply-add each, and then the bias, whatever the
/// number of rows: how rows and columns are tiled changes no bit. Any depth and
/// number of columns.
mlir::func::FuncOp buildLinearKernel(mlir::OpBuilder &builder,
                                     mlir::Location loc,
                                     const LinearShape &shape,
                                     const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEARKERNEL_H
