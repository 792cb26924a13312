//===- LinearAttentionGrid.h - Linear attention on a GPU --------*- C++ -*-===//
//
// Sums over keys stay in the registers of a block (HeadSums.h) from a
// sentence's first position to its last: keys are added in ascending order, and
// in a causal op a query reads right behind its key, as in a step.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_LINEARATTENTIONGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_LINEARATTENTIONGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for heads
/// whose sums registers do not hold, memrefs that are not dense, and for what
/// split-linear-attention would have split.
mlir::LogicalResult emitGrid(LinearAttentionOp op);
mlir::LogicalResult emitGrid(LinearAttentionReadOp op);
mlir::LogicalResult emitGrid(LinearAttentionSumsOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEARATTENTION_LINEARATTENTIONGRID_H
