//===- QueryState.h - A query of attention between keys ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYSTATE_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYSTATE_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"

namespace heddle {

/// What a thread has of one query and some of its keys (online softmax,
/// arXiv:1805.02867); f32.
struct QueryState {
  /// The largest score; of a softmax only.
  mlir::Value maximum;
  /// Of probabilities, and of values times probabilities.
  mlir::Value total;
  llvm::SmallVector<mlir::Value> sums;

  /// Of no keys.
  static QueryState start(int64_t sums, BlockCode &code);
  static QueryState of(mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> values() const;

  /// The same for a maximum that is not below its own.
  QueryState raisedTo(mlir::Value maximum, GpuQueryLoops &query,
                      BlockCode &code) const;
};

/// One of the sums, divided and rounded as the op says.
mlir::Value resultOf(AttentionOp op, mlir::Value sum, mlir::Value total,
                     BlockCode &code);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_QUERYSTATE_H
