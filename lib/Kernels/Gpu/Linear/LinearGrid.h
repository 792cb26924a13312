//===- LinearGrid.h - linear on a GPU ---------------------------*- C++ -*-===//
//
// A block takes a tile of rows and columns (ProductBlock.h, or of short floats
// and i8 on architectures with products of warpgroups WarpgroupProduct.h) and
// does with its sums, in registers, what follows element by element; a norm is
// an op of its own behind it. Few rows have a shape of block of their own,
// chosen when the grid starts: it changes no bit, as both multiply by one
// instruction.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_LINEARGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_LINEARGRID_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/GpuArchitecture.h"

namespace heddle {

/// Builds the grids of `op` in front of it, and ops for its norm and `also`.
/// Fails, building nothing, for weights that are not packed and rows that are
/// no whole number of words.
mlir::LogicalResult emitGrid(LinearOp op, const GpuArchitecture &architecture);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_LINEARGRID_H
