//===- SeenPairs.h - Which pairs of a tile are in the mask ------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_SEENPAIRS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_SEENPAIRS_H

#include "lib/Kernels/Gpu/Attention/QueryBlocks.h"

namespace heddle {

/// The pairs of a thread whose scores are in fragments (QueryFragments.h).
class SeenPairs {
public:
  /// `mask` is the op's as the head has it, or null. The thread has `rows` rows
  /// of a tile of `keys` keys, the first in row `firstRow`, an i32, of the
  /// block's queries, the others each 8 rows after the one before.
  SeenPairs(AttentionOp op, mlir::Value mask, const QueryRows &block,
            mlir::Value firstRow, int64_t rows, int64_t keys, BlockCode &code)
      : op(op), mask(mask), block(block), firstRow(firstRow), rows(rows),
        keys(keys), code(code) {}

  /// An i64 with a bit for each pair of the tile whose first key has the number
  /// `first`, an i32: row by row, and in a row by key.
  mlir::Value find(mlir::Value first);

private:
  /// Bits of the pairs of a row that are in the mask, and of those that only
  /// the mask's predicate decides; i64.
  struct Bits {
    mlir::Value all, some;
  };

  int64_t pairsOfRow() const;
  mlir::Value firstKey(mlir::Value first);
  mlir::Value bitsBefore(mlir::Value key, mlir::Value first);
  mlir::Value bitsOf(mlir::Value begin, mlir::Value end, mlir::Value first);
  Bits ofRanges(llvm::ArrayRef<KeyRange> ranges, mlir::Value first);
  Bits ofSegments(const QueryBlock &row, mlir::Value part, mlir::Value first);
  Bits ofMask(const QueryBlock &row, mlir::Value first);
  mlir::Value ofPairs(mlir::Value some, mlir::Value position,
                      mlir::Value first);
  mlir::Value ofRow(mlir::Value row, mlir::Value first);

  AttentionOp op;
  mlir::Value mask;
  const QueryRows &block;
  mlir::Value firstRow;
  int64_t rows, keys;
  BlockCode &code;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_SEENPAIRS_H
