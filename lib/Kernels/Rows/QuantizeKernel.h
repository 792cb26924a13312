//===- QuantizeKernel.h - Kernels of quantize -------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_QUANTIZEKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_QUANTIZEKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// clip(rint(x), -127, 127) of a vector of f32 as one of i8 with as many lanes;
/// of what is no number 0. The formula is that of QuantizeOp, bit for bit on
/// every ISA level.
mlir::Value roundToIntegers(mlir::Value x, const VectorMath &math);

/// Where quantised rows go, memrefs [rows, width] of i8. Either `scales` [rows]
/// are written, too, or all rows have one multiplier [1]; the other is null.
struct IntegerRows {
  mlir::Value integers, scales, multiplier;
  bool areRotated = false;
  /// Whether a product of this level multiplies them, in a form of its own.
  bool areMultiplied = true;
};

/// Builds what becomes of row `row` of f32 [rows, width].
void quantizeRow(RowKernel &kernel, mlir::Value input, mlir::Value row,
                 const IntegerRows &output);

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(QuantizeOp op, RowKernel &kernel);
void emitKernel(QuantizeHeadsOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_QUANTIZEKERNEL_H
