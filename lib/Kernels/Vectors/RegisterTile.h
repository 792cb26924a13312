//===- RegisterTile.h - Products of rows by vectors -------------*- C++ -*-===//
//
// A tile of a few rows by a few vectors of sums in registers, whose depth
// passes in ascending order, one fused multiply-add an element: bits of an
// element depend on neither the tile nor the rows beside it. For products whose
// factors are not packed: linear attention, projected sequences.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_VECTORS_REGISTERTILE_H
#define HEDDLE_LIB_KERNELS_VECTORS_REGISTERTILE_H

#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

class RegisterTile {
public:
  /// A vector of a row: its first column, and how many it has of the level's
  /// lanes.
  struct Part {
    int64_t column, size;
  };
  using Parts = llvm::SmallVector<Part>;
  /// Sums [rows, parts], row by row.
  using Sums = llvm::SmallVector<mlir::Value>;

  /// Rows of a tile: with as many vectors as it has, half of the registers are
  /// sums.
  static constexpr int64_t kRows = 4;

  explicit RegisterTile(VectorLoops &loops) : loops(loops) {}

  /// Columns in whole vectors.
  int64_t padded(int64_t columns) const;
  /// The width of equal blocks of whole vectors that cover `width` and stay in
  /// the L1 cache beside what they are made of; or all of it.
  static int64_t blockOf(int64_t width, int64_t lanes);

  /// Calls `body` for the vectors of each tile that together cover `columns`.
  void forEachGroup(int64_t columns,
                    llvm::function_ref<void(const Parts &)> body);
  /// Calls `body` with the first row and the number of rows of tiles that cover
  /// [0, rows), which is a constant.
  void forEachRows(int64_t rows,
                   llvm::function_ref<void(mlir::Value, int64_t)> body);

  Sums zeros(int64_t rows, const Parts &parts);
  /// sums[r, c] + the sum over k in [begin, end) of x(k, r) w(k, c), a scalar
  /// by a vector.
  Sums multiply(mlir::Value begin, mlir::Value end, const Parts &parts,
                Sums sums,
                llvm::function_ref<mlir::Value(mlir::Value, int64_t)> x,
                llvm::function_ref<mlir::Value(mlir::Value, const Part &)> w);

  /// A vector of a row of f32, 0 behind its end; and its store. A whole one is
  /// for rows of scratch memory, which are padded.
  mlir::Value load(mlir::Value memref, mlir::Value row, const Part &part);
  mlir::Value loadWhole(mlir::Value memref, mlir::Value row, const Part &part);
  void store(mlir::Value value, mlir::Value memref, mlir::Value row,
             const Part &part);

  /// Asks for `count` elements of a row from `column` on to the L2 cache; they
  /// may lie behind the memref.
  void fetch(mlir::Value memref, mlir::Value row, mlir::Value column,
             int64_t count);

  /// Scratch memory of f32, in whole cache lines.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape);

private:
  VectorLoops &loops;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_VECTORS_REGISTERTILE_H
