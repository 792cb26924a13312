//===- EmbeddingGrid.h - embedding on a GPU, a warp a row -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_EMBEDDINGGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_EMBEDDINGGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, if a
/// warp cannot take the rows of the table (WarpRow.h), or if they are looked
/// up as they are, in fewer bits than f32.
mlir::LogicalResult emitGrid(EmbeddingOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_EMBEDDINGGRID_H
