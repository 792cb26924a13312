//===- ListedRow.h - The row that a number of a list names ------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H
#define HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace heddle {

struct ListedRow {
  /// i1; numbers that are no rows fill lists up.
  mlir::Value isRow;
  /// An index: the number if it is a row, and otherwise 0.
  mlir::Value row;
};

/// What `number`, i32, names of a memref [batch, n, d] or [n, d] with n > 0.
ListedRow findListedRow(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value number, mlir::Value rows);

/// Lists [batch, k] or [k] of rows of a memref, as `take_rows` and `put_rows`
/// have them; the last two are null unless a batch of lists names rows of a
/// ragged memref.
struct RowLists {
  mlir::Value tokens, rows, starts, lengths;
};

/// A row and whether it is one, as above, with all leading coordinates.
struct ListedPlace {
  mlir::Value isRow;
  llvm::SmallVector<mlir::Value, 2> row;
};

/// What the number at `at`, indices, names.
ListedPlace findListedPlace(mlir::OpBuilder &builder, mlir::Location loc,
                            const RowLists &lists, mlir::ValueRange at);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H
