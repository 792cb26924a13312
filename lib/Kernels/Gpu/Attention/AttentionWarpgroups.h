//===- AttentionWarpgroups.h - Attention by warpgroups ----------*- C++ -*-===//
//
// What AttentionBlock.h is for mma.sync, for wgmma of short floats, in the
// shape of FlashAttention-3 (arXiv:2407.08608): one warpgroup copies, two
// multiply, 64 queries each, or one if no sentence has more, and a ring of
// tiles of keys and of values, in turn, lies between them. Products with the
// next keys are begun before those with the values of the tile before, which
// run while the scores of the former become probabilities.
//
// Those who copy and those who multiply walk over the same tiles of the mask.
// The former also take out what is not finite in values of tiles that not all
// queries see wholly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONWARPGROUPS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONWARPGROUPS_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grids of an op in front of it: of short floats, if
/// hasQueryBlocks (QueryBlocks.h) and no head is wider than 224, or than 128
/// under masks of many ranges. Fails for others.
mlir::LogicalResult emitWarpgroups(AttentionOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONWARPGROUPS_H
