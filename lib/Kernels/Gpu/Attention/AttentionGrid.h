//===- AttentionGrid.h - Attention on a GPU, a warp a query -----*- C++ -*-===//
//
// For what has neither tiles of a block of queries (AttentionWarpgroups.h,
// AttentionBlock.h) nor pieces of a step (AttentionStep.h): a warp takes one
// query of one head, in any form, with any mask and regions. 32 keys at a time,
// a lane scores one of them. Then all lanes add up the values of those with a
// probability, a lane some of their columns (online softmax, arXiv:1805.02867).
// The mask says which keys are read at all. They are cut at multiples of 32:
// neither keys behind them nor keys that are passed over change a bit.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONGRID_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/GpuArchitecture.h"

namespace heddle {

/// Builds the grid of an op in front of it, as it fits best.
mlir::LogicalResult emitGrid(AttentionOp op,
                             const GpuArchitecture &architecture);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONGRID_H
