//===- GpuQueryLoops.h - A query of attention on a GPU ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_GPUQUERYLOOPS_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_GPUQUERYLOOPS_H

#include "lib/CodeGen/Loops/QueryLoops.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// A query whose probabilities of short floats are powers by a GPU's own
/// instruction.
class GpuQueryLoops : public QueryLoops {
public:
  GpuQueryLoops(AttentionOp op, BlockCode &code, mlir::ValueRange row,
                mlir::Value head)
      : QueryLoops(op, code.builder, row, head), code(code) {}

protected:
  mlir::Value exp2(mlir::Value x) override { return code.exp2(x); }

  BlockCode &code;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_GPUQUERYLOOPS_H
