//===- RecurrenceGrid.h - recurrence on a GPU -------------------*- C++ -*-===//
//
// Time is serial: a thread has a column of a sentence from its first position
// to the last, and neighbours have neighbouring columns. A state is one fused
// multiply-add behind the one before, so that loads of several positions and
// their gates go ahead of it. A step has pieces of 16 bytes of all rows. f32
// are a CPU's to the bit.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ROWS_RECURRENCEGRID_H
#define HEDDLE_LIB_KERNELS_GPU_ROWS_RECURRENCEGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of the op in front of it. Fails, building nothing, for
/// memrefs that are not dense.
mlir::LogicalResult emitGrid(RecurrenceOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ROWS_RECURRENCEGRID_H
