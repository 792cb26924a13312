//===- TileRuns.h - From key ranges to runs of tiles ------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_TILERUNS_H
#define HEDDLE_LIB_KERNELS_ATTENTION_TILERUNS_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Builds, in front of `op`, index arithmetic on what the mask's `keyRanges`
/// gives, and stores; replaces its result.
void emitTileRuns(TileRunsOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_TILERUNS_H
