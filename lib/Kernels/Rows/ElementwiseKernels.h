//===- ElementwiseKernels.h - Kernels of add, fill and copies ---*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ROWS_ELEMENTWISEKERNELS_H
#define HEDDLE_LIB_KERNELS_ROWS_ELEMENTWISEKERNELS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace heddle {

/// Build what the op computes, at the kernel's insertion point. Copies are of
/// f32, between buffers that do not overlap.
void emitKernel(AddOp op, RowKernel &kernel);
void emitKernel(MultiplyOp op, RowKernel &kernel);
void emitKernel(FillOp op, RowKernel &kernel);
void emitKernel(mlir::memref::CopyOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ROWS_ELEMENTWISEKERNELS_H
