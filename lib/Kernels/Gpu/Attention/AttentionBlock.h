//===- AttentionBlock.h - Attention by blocks of queries --------*- C++ -*-===//
//
// FlashAttention-2 (arXiv:2307.08691) with any mask and score: a warp has 16 or
// 32 queries of one head and all of their sums, keys and values pass through
// shared memory in tiles, products are those of tensor cores (of f32 three of
// tf32 unless one is enough, BlockCode.h). Keys are copied while values are
// multiplied and the other way round. What the mask says of the block decides
// which tiles are read, and in which of them each pair has to be asked.
//
// Tiles begin at multiples of their size, by number among the positions of a
// remainder (HeadGroups.h), and rows of a product know nothing of each other: a
// query's bits depend on the query and its keys alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONBLOCK_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONBLOCK_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/GpuArchitecture.h"

namespace heddle {

/// Builds the grid of an op in front of it: of scaled products of whole
/// sentences, whose heads have widths in multiples of 16. Fails for others.
mlir::LogicalResult emitBlocks(AttentionOp op,
                               const GpuArchitecture &architecture);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONBLOCK_H
