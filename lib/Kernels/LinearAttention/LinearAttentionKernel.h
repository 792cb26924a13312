//===- LinearAttentionKernel.h - Kernels of linear attention ----*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEARATTENTION_LINEARATTENTIONKERNEL_H
#define HEDDLE_LIB_KERNELS_LINEARATTENTION_LINEARATTENTIONKERNEL_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/RowKernel.h"

namespace heddle {

/// Whether heads are narrow enough for the scratch memory of a kernel, and of a
/// form that has one: causal, or a step.
bool hasKernel(LinearAttentionOp op);
bool hasKernel(LinearAttentionSumsOp op);
bool hasKernel(LinearAttentionReadOp op);

/// Build what the ops compute, at the kernel's insertion point.
void emitKernel(LinearAttentionOp op, RowKernel &kernel);
void emitKernel(LinearAttentionSumsOp op, RowKernel &kernel);
void emitKernel(LinearAttentionReadOp op, RowKernel &kernel);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEARATTENTION_LINEARATTENTIONKERNEL_H
