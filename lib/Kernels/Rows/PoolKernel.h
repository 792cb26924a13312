//===- PoolKernel.h - Kernels of pool and normalize -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_POOLKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_POOLKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(PoolOp op, RowKernel &kernel);
void emitKernel(NormalizeOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_POOLKERNEL_H
