//===- ProductLoops.h - Products with weights, as loops ---------*- C++ -*-===//
//
// x W + b of one row, and the row in fewer bits: the reference of linear, ffn,
// candidate_logits, quantize and round, in the order that Linear.td and
// Quantization.td state; short floats are widened, multiplied and added in f32,
// ascending.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_PRODUCTLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_PRODUCTLOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// The row of memref [..., d] that is multiplied, at these coordinates.
struct ProductInput {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> at;
  /// Of i8: scales [...], null if the weight's are all, and what is added to
  /// each integer.
  mlir::Value scales = {};
  int64_t shift = 0;
};

/// W [in, out], row-major or in panels (PanelLayout.h), with scales as in
/// LinearOp if it is i8; the bias [out] may be null.
struct ProductWeight {
  mlir::Value memref, scales, bias;
  /// Columns of each part, which has panels of its own; of a row, when that is
  /// multiplied by the rows of `memref`, none.
  llvm::SmallVector<int64_t> parts = {};
  WeightFormat format = WeightFormat::F32;
  /// Memory for the sums of a row, [out] of i32; null if they are no
  /// integers.
  mlir::Value sums = {};
};

/// For `multiplyRow` by rows of `input`, in front of the loops over them:
/// inside the stack would grow with every row.
ProductWeight productWeight(mlir::Value input, mlir::Value memref,
                            mlir::Value scales, mlir::Value bias,
                            llvm::ArrayRef<int64_t> parts, Loops &loops);

/// result[at, j] = (x W + b)[first + j] for each column of part number `part`,
/// which begins at `first`; the weight is from `productWeight`.
void multiplyRow(const ProductInput &input, const ProductWeight &weight,
                 size_t part, mlir::Value result, mlir::ValueRange at,
                 Loops &loops);

/// x . w + b with w the row of `rows` at `rowAt`; scales and bias [rowAt].
mlir::Value multiplyRows(const ProductInput &input, const ProductWeight &rows,
                         mlir::ValueRange rowAt, Loops &loops);

/// What QuantizeOp names: f32, a multiplier [1] or null, i8, and scales or
/// null.
struct Quantization {
  mlir::Value input, multiplier, integers, scales;
  bool isRotated = false;
};

/// The row of the input at `at` as integers, and its scale.
void quantizeRow(const Quantization &op, mlir::ValueRange at, Loops &loops);

/// The row at `at` with the values that fewer bits have, if that is on.
void fakeQuantizeRow(FakeQuantizeOp op, mlir::ValueRange at, Loops &loops);

/// clip(rint(x), -127, 127) as i8; of what is no number 0.
mlir::Value roundToInteger(mlir::Value x, Loops &loops);

/// The scale of a row whose largest |x| is given: most / 127, of zeros 1.
mlir::Value scaleOfLargest(mlir::Value most, Loops &loops);

/// clip(rint(x * multiplier[0]), -127, 127) as i8; of what is no number 0.
mlir::Value quantizeValue(mlir::Value x, mlir::Value multiplier, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_PRODUCTLOOPS_H
