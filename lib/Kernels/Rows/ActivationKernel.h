//===- ActivationKernel.h - Kernels of activation ---------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_ACTIVATIONKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_ACTIVATIONKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds an activation (formulas: Layers.td) of f32 vectors of a power of two
/// of lanes, or of a scalar, for epilogues, too. relu keeps NaN. Each is within
/// 4 ulp of the formula where that is well conditioned, and within 2^-21 of 1
/// or of |x|, whichever is larger, everywhere.
mlir::Value emitActivation(ActivationKind kind, mlir::Value x,
                           const VectorMath &math);

/// The same for a result that is rounded to bf16 next: gelu within 2^-17 of
/// |x|, in half of the instructions.
mlir::Value emitShortActivation(ActivationKind kind, mlir::Value x,
                                const VectorMath &math);

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(ActivationOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_ACTIVATIONKERNEL_H
