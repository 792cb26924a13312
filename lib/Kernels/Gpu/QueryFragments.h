//===- QueryFragments.h - The queries of a warp of attention ----*- C++ -*-===//
//
// Sums, scores and weights stand in fragments of 16 rows by 8 columns (PTX ISA,
// "Matrix Fragments for mma.m16n8k16"): element e is in row lane / 4 + 8 (e /
// 2) and column 2 (lane % 4) + e % 2. A thread has two rows of each fragment,
// and four lanes share a row. Matrices are [fragment of rows][of
// columns][element].
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_QUERYFRAGMENTS_H
#define HEDDLE_LIB_KERNELS_GPU_QUERYFRAGMENTS_H

#include "lib/CodeGen/QueryLoops.h"
#include "lib/Kernels/Gpu/BlockCode.h"
#include "lib/Kernels/Gpu/KeyTiles.h"
#include <memory>

namespace heddle {

inline constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8;

/// Of a block of queries of one head; i32. Queries and keys are counted by
/// number among some positions.
struct QueryRows {
  mlir::Value sentence, head;
  /// The first one of the block and, behind the last one of the sentence, the
  /// end of queries and of keys.
  mlir::Value first, queryCount, keyCount;
  Positions positions = {};
};

class QueryFragments {
public:
  /// Of each of the thread's rows the largest score and this lane's sum of
  /// weights, and the weighted values.
  struct State {
    llvm::SmallVector<mlir::Value> maxima, totals, sums;

    llvm::SmallVector<mlir::Value> values() const;
  };

  /// `warpRows` of a warp, `keys` of a tile.
  QueryFragments(AttentionOp op, const QueryRows &block, int64_t warpRows,
                 int64_t keys, BlockCode &code);

  int64_t rowFragments() const { return warpRows / kFragmentRows; }
  int64_t keyFragments() const { return keys / kFragmentColumns; }
  int64_t columnFragments() const {
    return AttentionOp(op).getValueWidth() / int64_t(kFragmentColumns);
  }
  /// Rows of a thread.
  int64_t rows() const { return 2 * rowFragments(); }
  /// Where a row's first element of a fragment stands in a matrix that is so
  /// many fragments wide; the other one stands behind it.
  static size_t placeOf(int64_t row, int64_t columns, int64_t column) {
    return (row / 2 * columns + column) * 4 + row % 2 * 2;
  }

  State start();
  State stateOf(mlir::ValueRange values) const;

  /// The weights of a tile.
  struct Weights {
    /// Fragments A. Of f32 a word is an element, as HeadTile::columnFragments
    /// has its rows; of bf16 two keys side by side.
    llvm::SmallVector<mlir::Value> words;
    /// A bit of an i64 for each pair, row by row: whether it is in the mask.
    mlir::Value seen;
  };
  /// Makes weights of the products of queries and keys, with the state brought
  /// up to them. Pairs outside of the mask weigh 0.
  Weights weigh(const KeyTile &tile, mlir::ValueRange products, State &state);
  /// What row number `row` of the thread has for a key of the tile, an i32 that
  /// is the same for all threads.
  struct Weight {
    mlir::Value weight, isSeen;
  };
  Weight weightAt(const Weights &weights, int64_t row, mlir::Value key);
  /// Writes the results.
  void finish(const State &state);

private:
  bool isSoftmax() const {
    return AttentionOp(op).getNormalizer() == Normalizer::Softmax;
  }
  bool isOfBf16() const { return AttentionOp(op).isOfBf16(); }
  int64_t wordsOfFragment() const { return isOfBf16() ? 2 : 4; }
  std::unique_ptr<QueryLoops> queryOf(mlir::Value i);
  mlir::Value
  ofRow(mlir::Value value,
        llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Pairs of a row of the thread, in bits.
  int64_t pairsOfRow() const { return 2 * keyFragments(); }
  mlir::Value bitOf(mlir::Value bits, int64_t row, int64_t pair);
  mlir::Value findSeen(mlir::Value firstKey);
  llvm::SmallVector<mlir::Value> score(mlir::ValueRange products,
                                       mlir::Value firstKey);
  mlir::Value raiseMaximum(int64_t row, llvm::ArrayRef<mlir::Value> scores,
                           State &state);
  void weighRow(int64_t row, llvm::ArrayRef<mlir::Value> scores, State &state,
                Weights &weights);

  AttentionOp op;
  const QueryRows &block;
  int64_t warpRows, keys;
  BlockCode &code;
  /// The thread's first row in the block.
  mlir::Value firstRow;
  /// What each row computes.
  llvm::SmallVector<std::unique_ptr<QueryLoops>> queries;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_QUERYFRAGMENTS_H
