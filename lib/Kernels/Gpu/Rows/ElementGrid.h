//===- ElementGrid.h - Elements one by one on a GPU -------------*- C++ -*-===//
//
// Ops whose results are made of what stands at the same place: memory sets
// their speed. f32 are a CPU's to the bit but for sinusoids.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_ELEMENTGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_ELEMENTGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, for
/// memrefs that are not dense.
mlir::LogicalResult emitGrid(ActivationOp op);
mlir::LogicalResult emitGrid(AddOp op);
mlir::LogicalResult emitGrid(MultiplyOp op);
mlir::LogicalResult emitGrid(FillOp op);
mlir::LogicalResult emitGrid(RoundOp op);
mlir::LogicalResult emitGrid(SinusoidalPositionsOp op);
mlir::LogicalResult emitGrid(LearnedPositionsOp op);
/// Destination and input do not overlap.
mlir::LogicalResult emitGrid(RotaryPositionsOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_ELEMENTGRID_H
