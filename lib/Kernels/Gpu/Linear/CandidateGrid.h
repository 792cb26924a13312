//===- CandidateGrid.h - candidate_logits, a warp a logit -------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_CANDIDATEGRID_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_CANDIDATEGRID_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grid of an op in front of it. Fails, building nothing, if a
/// warp cannot take the rows that are multiplied (WarpRow.h).
mlir::LogicalResult emitGrid(CandidateLogitsOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_CANDIDATEGRID_H
