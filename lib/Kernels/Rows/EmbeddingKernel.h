//===- EmbeddingKernel.h - Kernels of embedding -----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_EMBEDDINGKERNEL_H
#define HEDDLE_LIB_KERNELS_ROWS_EMBEDDINGKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point, for a table of
/// rank 2.
void emitKernel(EmbeddingOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_EMBEDDINGKERNEL_H
