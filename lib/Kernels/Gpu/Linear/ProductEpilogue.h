//===- ProductEpilogue.h - From sums of products to x W + b -----*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTEPILOGUE_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTEPILOGUE_H

#include "lib/Kernels/Gpu/Linear/ProductBlock.h"

namespace heddle {

/// Columns of W that stand in panels of their own: a part of a split, or all.
/// i32.
struct ColumnRange {
  /// Panels and columns in front of it, and its columns.
  mlir::Value firstPanel, firstColumn, width;
};

/// What LinearOp makes of exact sums of integers, and its bias: the operands of
/// an op, of which all but the weight may be null.
struct ProductEpilogue {
  mlir::Value weight, weightScales, bias;
  int64_t shift, depth;
  llvm::SmallVector<int64_t> widths;
  /// Whether four columns that a thread has are all or none of a part.
  bool hasWholePieces;

  template <typename Op>
  static ProductEpilogue of(Op op, llvm::ArrayRef<int64_t> widths) {
    mlir::IntegerAttr shift = op.getShiftAttr();
    return {
        op.getWeight(),
        op.getWeightScales(),
        op.getBias(),
        shift ? shift.getInt() : 0,
        mlir::cast<mlir::MemRefType>(op.getInput().getType()).getShape().back(),
        llvm::to_vector(widths),
        llvm::all_of(widths, [](int64_t width) { return width % 4 == 0; })};
  }

  /// What four columns from `column` of a range on have for all rows; of those
  /// behind its last it is anything.
  struct Columns {
    FourWords scales, shifts, bias;
  };
  Columns load(mlir::Value column, const ColumnRange &range,
               BlockCode &code) const;
  /// f32 of these columns. `inputScale` is the row's, or null.
  FourWords finish(const FourWords &sums, mlir::Value inputScale,
                   const Columns &columns, BlockCode &code) const;

private:
  FourWords loadColumns(mlir::Value memref, mlir::Value column,
                        const ColumnRange &range, BlockCode &code) const;
  mlir::Value columnSum(mlir::Value column, const ColumnRange &range,
                        BlockCode &code) const;
};

/// Bytes from a row of a memref [rows, width] to the next, or of a dense one of
/// any rank; 0 if they are not known, or elements of a row have gaps.
int64_t pitchOf(mlir::Value memref);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTEPILOGUE_H
