//===- AttentionGrid.h - attention on a GPU, a warp a query -----*- C++ -*-===//
//
// Where blocks of queries have no tiles (AttentionWarpgroups.h,
// AttentionBlock.h) and steps no pieces (AttentionStep.h): a warp takes one
// query of one head, in any form, with any mask and regions:
// 32 keys at a time a lane scores one of them, then all lanes add up the values
// of those that weigh anything, a lane some of their columns (online softmax,
// arXiv:1805.02867). What the mask says of the query from a key on decides
// which keys are read at all. They are cut at multiples of 32: neither what
// stands behind them nor what is passed over changes a bit.
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
