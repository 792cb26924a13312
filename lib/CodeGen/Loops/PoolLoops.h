//===- PoolLoops.h - Formulas of pool ---------------------------*- C++ -*-===//
//
// One builder for the reference loops, CPU vectors and GPU threads: they differ
// in what a column is, a scalar or a vector of neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_POOLLOOPS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_POOLLOOPS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/Loops.h"

namespace heddle {

/// The positions that a sequence is pooled over.
struct PooledPositions {
  /// Where the sequence stands: the leading coordinate of its rows or, of
  /// ragged ones, the first row; index.
  mlir::Value sequence;
  bool isRagged;
  /// From `first` on, up to `end`, which is no less; index.
  mlir::Value first, end;
  /// Whether there are any, and the position that `last` takes.
  mlir::Value hasSome, last;
  /// How many there are, and the sum of i + 1; f32.
  mlir::Value count, weight;
};

PooledPositions findPooledPositions(PoolOp op, mlir::Value sequence,
                                    Loops &loops);

/// The leading coordinates of position `i` of the input.
llvm::SmallVector<mlir::Value> pooledRow(const PooledPositions &positions,
                                         mlir::Value i, Loops &loops);

/// What a mode makes of columns of a sequence: `column(i)` are those of
/// position i, an index; `zero` has their type.
mlir::Value poolColumn(Pooling mode, const PooledPositions &positions,
                       mlir::Value zero,
                       llvm::function_ref<mlir::Value(mlir::Value)> column,
                       Loops &loops);

/// The reference of pool.
void buildPoolLoops(PoolOp op, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_POOLLOOPS_H
