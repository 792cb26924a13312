//===- ProjectionKernel.h - Kernels of projected sequences ------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_PROJECTIONKERNEL_H
#define HEDDLE_LIB_KERNELS_LINEAR_PROJECTIONKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Builds what the op computes, at the kernel's insertion point. The projection
/// is read row by row, as its file has it.
void emitKernel(ProjectSequenceOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_PROJECTIONKERNEL_H
