//===- HeadPieces.h - Rows of one head, read by a warp ----------*- C++ -*-===//
//
// 32 rows in pieces of 16 bytes: neighbouring lanes have neighbouring pieces of
// a row, a power of two of them a row, and the warp as many rows at once as
// lanes are left for. Each lane is also the owner of one of the 32 rows.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADPIECES_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADPIECES_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

class HeadPieces {
public:
  /// Rows of a head of a memref in row-major order, `width` elements of f32 or
  /// short floats: a whole number of pieces.
  HeadPieces(mlir::Value memref, int64_t width, mlir::Value head,
             BlockCode &code);
  /// Whether rows of a memref are so.
  static bool exist(mlir::Value memref, int64_t width);
  /// Elements of a row that a lane has if they exist.
  static int64_t elementsOfLane(mlir::Value memref, int64_t width);

  /// Elements of a row that a lane has, as f32: in each of its pieces.
  int64_t elementsOfPiece() const { return 16 / bytes; }
  int64_t elements() const { return pieces * elementsOfPiece(); }
  /// Where in the row element `number` of a lane stands, and whether it does;
  /// a condition, or null if all do.
  mlir::Value columnOf(int64_t number) const;
  mlir::Value hasColumn(int64_t number) const;

  /// How often the warp reads until it has had all 32 rows.
  int64_t reads() const { return lanes; }
  /// The row, of 32, that this lane has in `read`, the one that it owns, and
  /// the lane that owns a row; i32.
  mlir::Value rowOf(int64_t read) const;
  mlir::Value ownRow() const;
  mlir::Value ownerOf(mlir::Value row) const;
  /// The lane's elements of row number `row` of all that stand in the memref,
  /// an i32. If the lane has none they are zeros; if a condition is
  /// given, if it does not hold, and others of the row in place of none.
  llvm::SmallVector<mlir::Value> read(mlir::Value row,
                                      mlir::Value isRead = {}) const;

  /// Values of some reads, as many of each: [read][number].
  using OfReads = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
  /// Of `values` of each read the sums over the lanes of its row, for the row
  /// that this lane owns; in an order that rows do not change. Asks for a few
  /// reads at a time, so that not all values wait in registers.
  llvm::SmallVector<mlir::Value>
  sumsOfRow(llvm::function_ref<OfReads(llvm::ArrayRef<int64_t>)> values) const;
  /// The sum over all rows of what lanes have of one column.
  mlir::Value sumOfColumn(mlir::Value value) const;
  /// Whether this lane is the first one of those with its columns.
  mlir::Value isFirstOfColumns() const;

private:
  mlir::Value laneOfRow() const;
  llvm::SmallVector<mlir::Value>
  sumFrom(int64_t first, int64_t step,
          llvm::function_ref<OfReads(llvm::ArrayRef<int64_t>)> values) const;
  int64_t rowsAtOnce() const { return kWarpThreads / lanes; }

  BlockCode &code;
  mlir::Type element;
  int64_t width, bytes;
  /// Lanes of a row, and pieces of a lane.
  int64_t lanes, pieces;
  /// The lane's first piece of row 0, and bytes from a row to the next.
  mlir::Value first;
  int64_t pitch;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADPIECES_H
