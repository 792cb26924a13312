//===- QueryBlocks.h - Blocks of queries of attention -----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYBLOCKS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYBLOCKS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Attention/HeadTile.h"
#include "lib/Kernels/Gpu/Attention/KeyTiles.h"

namespace heddle {

/// Of a block of queries of one head; i32. Queries and keys are counted by
/// number among some positions.
struct QueryRows {
  mlir::Value sentence, head;
  /// The first one of the block and, behind the last one of the sentence, the
  /// end of queries and of keys.
  mlir::Value first, queryCount, keyCount;
  Positions positions = {};
  /// The row of the sentence's first token, of a prompt that of its first
  /// position, even if that is below 0; null if rows are [batch, n].
  mlir::Value start = {};
  /// The cache, or the memory of the sentence, that has the keys of a prompt;
  /// null for others.
  mlir::Value cache = {};

  /// The queries [first, first + rows) that exist, as masks ask for them.
  QueryBlock asked(AttentionOp op, int64_t rows, BlockCode &code) const;
  /// Positions of keys that the sentence has room for, an index.
  mlir::Value keyPositions(AttentionOp op, BlockCode &code) const;
};

/// The positions of a block's sentence, at the columns of its head in memrefs
/// of all heads side by side.
struct OperandRows {
  HeadRows queries, keys, values;
};
OperandRows rowsOf(AttentionOp op, const QueryRows &block, BlockCode &code);

/// Whether tensor cores multiply what the op has: scaled products of whole
/// sentences, or of prompts whose keys are no ring, without a list of queries
/// over ragged keys or vectors of relative positions, whose heads have widths
/// in multiples of 16 and rows in order.
bool hasQueryBlocks(AttentionOp op);

/// The grid of an op, with a block for each `rows` queries of each head (of a
/// ragged one, and of prompts, for each of its blocks, of which some have
/// nothing to do); `body` builds what its threads do, and gets the mask as the
/// head has it: see HeadGroups.h.
void createQueryGrid(
    AttentionOp op, int64_t rows, const BlockShape &shape,
    mlir::OpBuilder &builder,
    llvm::function_ref<void(BlockCode &, const QueryRows &, mlir::Value)> body);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYBLOCKS_H
