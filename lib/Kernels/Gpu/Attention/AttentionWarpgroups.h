//===- AttentionWarpgroups.h - Attention by warpgroups ----------*- C++ -*-===//
//
// The counterpart of AttentionBlock.h for wgmma and short floats, in the shape
// of FlashAttention-3 (arXiv:2407.08608). One warpgroup copies tiles of keys
// and of values in turn into a ring; two warpgroups multiply 64 queries each,
// or one if no sentence has more than 64. A warpgroup begins the products with
// the next keys before the products with the values of the previous tile; the
// latter run while the new scores become probabilities.
//
// Copying and multiplying warpgroups walk over the same tiles of the mask. The
// copying one replaces NaN and infinite values by 0 in tiles that are partly
// hidden from some query.
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
