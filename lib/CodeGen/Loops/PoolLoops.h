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

/// The largest number of no position, as sentence-transformers has it.
inline constexpr float kLowestPooled = -1e9f;

/// The positions that a sequence is pooled over: with `rows` those that the
/// input holds.
struct PooledPositions {
  /// Where the sequence stands: the leading coordinate of its rows or, of
  /// ragged ones, the first row; index.
  mlir::Value sequence;
  bool isRagged;
  /// Whether other rows were pooled before.
  bool isPart;
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

/// Columns of a sequence: `at(i)` are those of position i, an index; `zero` has
/// their type, and so has what `before()` loads, the result of other rows.
struct PooledColumn {
  mlir::Value zero;
  llvm::function_ref<mlir::Value(mlir::Value)> at;
  llvm::function_ref<mlir::Value()> before;
};

/// What a mode makes of a column.
mlir::Value poolColumn(Pooling mode, const PooledPositions &positions,
                       const PooledColumn &column, Loops &loops);

/// Builds what is done for a sequence: with `rows` if the input has some of it.
void ifPooled(const PooledPositions &positions, Loops &loops,
              llvm::function_ref<void()> body);

/// The reference of pool.
void buildPoolLoops(PoolOp op, Loops &loops);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_POOLLOOPS_H
