//===- RelativeVectors.h - Vectors of relative positions --------*- C++ -*-===//
//
// What a block of queries reads of `relative_keys` and `relative_queries`. With
// a query a lane the vectors of one key stand side by side in their tables, in
// the order of the lanes, and those of the next key one column further left.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_RELATIVEVECTORS_H
#define HEDDLE_LIB_KERNELS_ATTENTION_RELATIVEVECTORS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// Of a tile of keys and some vectors of queries of one op. Borrows `loops`.
class RelativeVectors {
public:
  RelativeVectors(OnlineProbabilitiesOp op, VectorLoops &loops, int64_t tile,
                  int64_t vectors)
      : op(op), loops(loops), tile(tile), vectors(vectors) {}

  /// What sum() gives for the tile that begins with `key`: twice in the code,
  /// since near the ends of the tables columns are limited lane by lane.
  llvm::SmallVector<mlir::Value>
  ofTile(mlir::Value key,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> sum);

  /// Inside of sum(): element `d` of the vectors in `table`, a query a lane,
  /// for a key of the tile and a vector of queries.
  mlir::Value load(mlir::Value table, mlir::Value d, int64_t key,
                   int64_t vector) const;

private:
  OnlineProbabilitiesOp op;
  VectorLoops &loops;
  int64_t tile, vectors;
  /// The column of the first query and of the tile's first key, beyond which
  /// nothing is limited; or, of all pairs, columns of all lanes, i32.
  mlir::Value first;
  llvm::SmallVector<mlir::Value> limited;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_RELATIVEVECTORS_H
