//===- QueryGrid.h - Blocks of queries of attention -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_QUERYGRID_H
#define HEDDLE_LIB_KERNELS_GPU_QUERYGRID_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/BlockCode.h"

namespace heddle {

/// Of a block of queries of one head; i32.
struct QueryRows {
  mlir::Value sentence, head;
  /// The first one of the block and, behind the last one of the sentence, the
  /// end of queries and of keys.
  mlir::Value first, queryCount, keyCount;

  /// The queries [first, first + rows) that exist, as masks ask for them.
  QueryBlock asked(int64_t rows, BlockCode &code) const;
};

/// Whether tensor cores multiply what the op has: scaled products of whole
/// sentences whose heads have widths in multiples of 16 and rows in order.
bool hasQueryBlocks(AttentionOp op);

/// The grid of an op in front of it, with a block for each `rows` queries of
/// each head; `body` builds what its threads do.
void createQueryGrid(
    AttentionOp op, int64_t rows, const BlockShape &shape,
    llvm::function_ref<void(BlockCode &, const QueryRows &)> body);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_QUERYGRID_H
