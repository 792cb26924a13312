//===- RowLoops.h - Formulas of one row, as loops ---------------*- C++ -*-===//
//
// What several layer ops compute for the row at the coordinates `at` of a
// memref [..., d]: the reference of activation, norm and positions, whether
// they stand alone or fused. The formulas are those of dialect/Layers.td.
// Source and result may be one memref.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_ROWLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_ROWLOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// The activation of one element.
mlir::Value activate(ActivationKind kind, mlir::Value x, Loops &loops);

/// result = lhs + rhs, all of one shape.
void addRow(mlir::Value lhs, mlir::Value rhs, mlir::Value result,
            mlir::ValueRange at, Loops &loops);

/// A normalisation over the last dimension; beta may be null.
struct Norm {
  NormKind kind;
  mlir::Value gamma, beta;
  llvm::APFloat epsilon;
};
void normalizeRow(const Norm &norm, mlir::Value source, mlir::Value result,
                  mlir::ValueRange at, Loops &loops);

/// The row `at` of two memrefs: result = source + something.
struct AddedRow {
  mlir::Value source, result;
  mlir::ValueRange at;
};

/// Adds the sinusoids of a position, an index.
void addSinusoids(mlir::Value position, int64_t timescales,
                  PositionLayout layout, const AddedRow &row, Loops &loops);

/// positions.rotary of the row `at` of input and destination, at a position.
void rotateRow(RotaryPositionsOp op, mlir::Value position, mlir::ValueRange at,
               Loops &loops);

/// Adds table[position + offset, :].
void addTableRow(mlir::Value table, mlir::Value position, int64_t offset,
                 const AddedRow &row, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_ROWLOOPS_H
