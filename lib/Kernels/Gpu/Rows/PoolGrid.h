//===- PoolGrid.h - pool on a GPU -------------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_POOLGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_POOLGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for
/// memrefs that are not dense.
mlir::LogicalResult emitGrid(PoolOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_POOLGRID_H
