//===- CandidateLogits.h - Vector code of candidate_logits ------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_CANDIDATELOGITS_H
#define HEDDLE_LIB_KERNELS_LINEAR_CANDIDATELOGITS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Builds the code of either form, f32 and dense, in front of the op, which
/// stays. A logit is a sum over lanes, each ascending, that are added in one
/// fixed order: its bits depend on its own row and candidate.
void emitCandidateLogits(CandidateLogitsOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_CANDIDATELOGITS_H
