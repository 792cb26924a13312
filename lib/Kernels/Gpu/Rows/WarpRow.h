//===- WarpRow.h - A row in the registers of a warp -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_WARPROW_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_WARPROW_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// A row, spread over the lanes of a warp: lane l has piece l of every
/// 32. Elements that a lane has behind the end are 0.
class WarpRow {
public:
  /// Pieces have four elements if rows are made of such.
  WarpRow(mlir::Value row, int64_t width, BlockCode &code)
      : row(row), width(width), each(width % 4 == 0 ? 4 : 1), code(code) {}

  mlir::Value getRow() const { return row; }
  /// The elements of a memref [rows, width]; of one [width] that every row
  /// reads.
  llvm::SmallVector<mlir::Value> load(mlir::Value memref);
  /// The same of another row of a memref.
  llvm::SmallVector<mlir::Value> load(mlir::Value memref, mlir::Value row);
  /// The column of each element, i32; behind the end none.
  llvm::SmallVector<mlir::Value> columns();
  /// Stores elements, of any type, as the row of a memref.
  void store(llvm::ArrayRef<mlir::Value> elements, mlir::Value memref);
  mlir::Value sum(llvm::ArrayRef<mlir::Value> elements);
  /// y(x) of each element.
  llvm::SmallVector<mlir::Value>
  map(llvm::ArrayRef<mlir::Value> elements,
      llvm::function_ref<mlir::Value(mlir::Value)> y);
  /// The same, 0 of what stands behind the end.
  llvm::SmallVector<mlir::Value>
  mapInside(llvm::ArrayRef<mlir::Value> elements,
            llvm::function_ref<mlir::Value(mlir::Value)> y);
  /// Writes the row in fewer bits; `isRotated` as QuantizeOp has it.
  void quantize(llvm::ArrayRef<mlir::Value> elements, mlir::Value multiplier,
                mlir::ValueRange destinations, bool isRotated);
  /// Stores f32 as the first result of an op, and what `also` makes of them.
  void storeAlso(llvm::ArrayRef<mlir::Value> elements, ShortRowsOpInterface op);

private:
  llvm::SmallVector<mlir::Value> rotate(llvm::ArrayRef<mlir::Value> elements);
  void round(llvm::ArrayRef<mlir::Value> elements, mlir::Value destination);
  int64_t pieces() const {
    return llvm::divideCeil(width, each * kWarpThreads);
  }
  bool mayEnd(int64_t piece) const {
    return (piece + 1) * each * kWarpThreads > width;
  }
  mlir::Value columnOf(int64_t piece) {
    return code.mul(code.add(code.lane(), piece * kWarpThreads), each);
  }
  mlir::Value isInside(int64_t piece) {
    return code.uless(columnOf(piece), code.i32(width));
  }
  mlir::Value
  combine(mlir::Value value,
          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> of);

  mlir::Value row;
  int64_t width, each;
  BlockCode &code;
};

/// Whether warps can take rows of all these memrefs: of as many pieces as
/// registers hold, aligned.
bool haveWarpRows(mlir::ValueRange rows);

/// A grid of `count` rows, an index, a warp each; `body` builds what a lane
/// does.
void createRowGrid(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value count, int64_t width,
                   llvm::function_ref<void(WarpRow &, BlockCode &)> body);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_WARPROW_H
