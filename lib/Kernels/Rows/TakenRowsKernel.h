//===- TakenRowsKernel.h - Kernels of take_rows and put_rows ----*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_TAKENROWSKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_TAKENROWSKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(TakeRowsOp op, RowKernel &kernel);
void emitKernel(PutRowsOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_TAKENROWSKERNEL_H
