//===- RecurrenceKernel.h - Kernels of recurrence ---------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_RECURRENCEKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_RECURRENCEKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point, in the full
/// form and in that of a step.
void emitKernel(RecurrenceOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_RECURRENCEKERNEL_H
