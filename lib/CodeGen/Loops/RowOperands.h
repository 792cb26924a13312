//===- RowOperands.h - Ops that compute row by row --------------*- C++ -*-===//
//
// Some layer ops on memrefs know of leading dimensions only how many rows they
// count: each row of a result follows from the same row of other operands, and
// from weights. Their rows can be counted by one dimension, and be computed
// some at a time.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_ROWOPERANDS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_ROWOPERANDS_H

#include "dialect/Transformer.h"

namespace heddle {

/// The operands of `op` whose leading dimensions only count rows; none if it
/// is no such op.
llvm::SmallVector<mlir::OpOperand *> rowOperandsOf(mlir::Operation *op);

/// How many leading dimensions count the rows of an op that has row operands.
int64_t leadingDimsOf(DestinationOpInterface op);

/// `memref` [a, b, ..., d] as [rows, d], with `leading` dimensions in one.
mlir::Value collapseLeading(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value memref, int64_t leading);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_ROWOPERANDS_H
