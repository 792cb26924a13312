//===- RoundKernel.h - Kernels of round -------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_ROUNDKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_ROUNDKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// A vector of f32 as one of a short float with as many lanes. The formula is
/// that of RoundOp, bit for bit on every ISA level.
mlir::Value roundTo(mlir::Type element, mlir::Value x, const VectorMath &math);

/// Builds what becomes of row `row` of f32 [rows, width], in short floats of
/// that shape.
void roundRow(RowKernel &kernel, mlir::Value input, mlir::Value row,
              mlir::Value output);

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(RoundOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_ROUNDKERNEL_H
