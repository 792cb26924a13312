//===- LogitsGrid.h - largest_logits and best_logits on a GPU ---*- C++ -*-===//
//
// A block takes some rows and 256 logits of each, of one range of the
// vocabulary: their products (ProductBlock.h, or of short floats and i8, if
// an architecture has warpgroups, WarpgroupProduct.h) leave them in shared
// memory, where a warp takes those of a row. What tiles of a range have kept
// meets in a second grid, a warp a row and range. So few rows read the weights
// on all multiprocessors; and since neither tiles nor their order depend on the
// rows, no sum of exponentials does.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSGRID_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/GpuArchitecture.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for
/// weights that are not packed and rows that are no whole number of words.
mlir::LogicalResult emitGrid(LargestLogitsOp op,
                             const GpuArchitecture &architecture);
/// The same: a grid for each 32 that are kept of a range.
mlir::LogicalResult emitGrid(BestLogitsOp op,
                             const GpuArchitecture &architecture);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_LOGITSGRID_H
