//===- OnlineRow.h - Attention for one query --------------------*- C++ -*-===//
//
// The form of decode steps: lanes run along the width of a head while scores
// and sums are computed, and over keys in between.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ONLINEROW_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ONLINEROW_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Each builds the vector code of an op of a `row` in front of it. The tile of
/// keys whose scores stay in registers has as many as a vector has lanes.
void emitRow(OnlineInitOp op, const IsaLevel &isa);
void emitRow(OnlineProbabilitiesOp op, const IsaLevel &isa);
void emitRow(OnlineUpdateOp op, const IsaLevel &isa);
void emitRow(OnlineFinishOp op, const IsaLevel &isa);

void emitResume(OnlineResumeOp op, const IsaLevel &isa);
void emitMerge(OnlineMergeOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ONLINEROW_H
