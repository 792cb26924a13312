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

  /// Whether probabilityOfProduct takes what the op multiplies: a softmax of
  /// short floats without a score region. Largest products then have the
  /// largest scores.
  static bool weighsProducts(AttentionOp op);
  /// exactProbabilityOf the score of an inner product.
  mlir::Value probabilityOfProduct(mlir::Value product, mlir::Value maximum);
  /// What sums of probabilities for one maximum are multiplied by for a larger
  /// one: of short floats a power of 2 if n is a number for both, so that what
  /// was rounded stays.
  mlir::Value growthOf(mlir::Value maximum, mlir::Value larger);

protected:
  mlir::Value exp2(mlir::Value x) override { return code.exp2(x); }
  mlir::Value exponential(mlir::Value score, mlir::Value maximum) override;

  BlockCode &code;

private:
  /// What scores lose before they are powers, see GpuQueryLoops.cpp.
  struct Origin {
    mlir::Value base, exponent;
  };
  Origin originOf(mlir::Value maximum);
  mlir::Value powerOf(mlir::Value difference, const Origin &origin);
};

/// Builds `body` for the row of a step, an i32; if `areGenerated` where it is
/// behind all rows of prompts, which is the same for all threads of a row.
void forGenerated(AttentionOp op, mlir::Value row, bool areGenerated,
                  BlockCode &code, llvm::function_ref<void()> body);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_GPUQUERYLOOPS_H
