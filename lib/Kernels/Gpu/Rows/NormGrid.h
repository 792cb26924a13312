//===- NormGrid.h - norm and quantize on a GPU, a warp a row ----*- C++ -*-===//
//
// A row stands in the registers of a warp, from its one load to its stores, in
// pieces of 16 bytes. Sums are those of each lane, then of lanes in the order
// of combineLanes: functions of the width alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_NORMGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_NORMGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for rows
/// that registers do not hold, or with gaps.
mlir::LogicalResult emitGrid(NormOp op);
mlir::LogicalResult emitGrid(NormalizeOp op);
mlir::LogicalResult emitGrid(QuantizeOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_NORMGRID_H
