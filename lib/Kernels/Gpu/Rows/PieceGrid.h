//===- PieceGrid.h - Rows in pieces, a thread each --------------*- C++ -*-===//
//
// What moves elements, or computes each from those at the same place: a thread
// has a piece of a row, of 16 bytes if rows are made of such and of half as
// many, and so on, elsewhere, and neighbours have neighbouring ones.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_PIECEGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_PIECEGRID_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// What a thread has of a row. Rows are counted through all dimensions but the
/// last; if that one is dynamic, through it, too, and have one element.
struct Piece {
  /// The row and its first column here; i32.
  mlir::Value row, column;
  int64_t elements;

  /// The piece of row `row` of a memref: its elements, or words if it has
  /// more than four.
  llvm::SmallVector<mlir::Value> load(mlir::Value memref, mlir::Value row,
                                      BlockCode &code) const;
  /// Stores what was loaded so, or elements made of it.
  void store(llvm::ArrayRef<mlir::Value> values, mlir::Value memref,
             mlir::Value row, BlockCode &code) const;
};

/// Whether memrefs are dense and have rows of one width, in elements.
bool havePieces(mlir::ValueRange memrefs);

/// Rows of a memref, an index.
mlir::Value countRows(mlir::Value memref, Loops &loops);

/// A grid over `rows` rows, an index below 2^32, as wide as those of some
/// memrefs, which have pieces; `body` builds what a thread does. A piece has at
/// most 16 bytes in each of them, and `unit` columns, if that is not 0, are
/// whole pieces.
void createPieceGrid(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::ValueRange memrefs, mlir::Value rows,
                     llvm::function_ref<void(const Piece &, BlockCode &)> body,
                     int64_t unit = 0);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_PIECEGRID_H
