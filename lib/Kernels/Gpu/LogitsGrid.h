//===- LogitsGrid.h - largest_logits and best_logits on a GPU ---*- C++ -*-===//
//
// A block takes some rows and one range of the vocabulary, 256 logits of each
// row at a time: their products leave them in shared memory, where a warp a row
// goes through them, ids ascending. What is kept stands in the registers of the
// row's warp.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LOGITSGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LOGITSGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for
/// weights that are not packed and rows that are no whole number of words.
mlir::LogicalResult emitGrid(LargestLogitsOp op);
/// The same: a grid for each 32 that are kept of a range.
mlir::LogicalResult emitGrid(BestLogitsOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LOGITSGRID_H
