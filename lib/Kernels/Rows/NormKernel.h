//===- NormKernel.h - Kernels of norm ---------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_NORMKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_NORMKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// A norm with its weights.
struct NormWeights {
  NormKind kind;
  double epsilon;
  int64_t width;
  /// f32 [width]; there may be no beta.
  mlir::Value gamma, beta;
};

/// Builds the norm of one row. `input` builds the value of a slice, 0 behind
/// its mask: once a slice if the row fits registers, once for each use, up
/// to three times, if it does not. `output` gets the result of each slice;
/// it may write where `input` reads. The variance is the mean of the squares of
/// deviations from the mean, as in the reference lowering.
void emitNormRow(RowKernel &kernel, const NormWeights &weights,
                 llvm::function_ref<mlir::Value(const Slice &)> input,
                 llvm::function_ref<void(mlir::Value, const Slice &)> output);

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(NormOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_NORMKERNEL_H
