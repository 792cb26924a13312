//===- BestLogits.h - Loops and vector code of best_logits ------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_BESTLOGITS_H
#define HEDDLE_LIB_KERNELS_LINEAR_BESTLOGITS_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Linear/LinearBlock.h"

namespace heddle {

/// Builds what computes `op`, on memrefs and with a packed weight, in front of
/// it: tiles of linear for emitters to go on with, and a task a range. With
/// `isFetched` weights come from memory.
void tileBestLogits(BestLogitsOp op, TileLoops &loops, bool isFetched);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_BESTLOGITS_H
