//===- ProjectionGrid.h - project_sequence on a GPU -------------*- C++ -*-===//
//
// A thread has a column of some rows of the result: what it loads of x all of
// these rows multiply, what it loads of the projection all threads of a warp.
// Sums are one chain of fused multiply-adds in ascending order of positions, as
// on a CPU.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_PROJECTIONGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_PROJECTIONGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of the op in front of it. Fails, building nothing, for
/// memrefs that are not dense, or if the width of the input is dynamic.
mlir::LogicalResult emitGrid(ProjectSequenceOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_PROJECTIONGRID_H
