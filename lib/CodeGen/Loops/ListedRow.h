//===- ListedRow.h - The row that a number of a list names ------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H
#define HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H

#include "mlir/IR/Builders.h"

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

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_LISTEDROW_H
