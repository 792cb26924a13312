//===- CacheKernel.h - Kernels of caches and of last rows -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_CACHEKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_CACHEKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point.
void emitKernel(CacheAppendOp op, RowKernel &kernel);
void emitKernel(CacheFillOp op, RowKernel &kernel);
void emitKernel(LastRowsOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_CACHEKERNEL_H
