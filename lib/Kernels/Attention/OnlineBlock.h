//===- OnlineBlock.h - Attention for a block of queries ---------*- C++ -*-===//
//
// The transposed form: lanes are queries. Maxima, totals and probabilities are
// vectors with a query a lane, keys and values are read one number at a time,
// for all queries at once, and nothing is packed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCK_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCK_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Each builds the vector code of an op of a `block` in front of it. The number
/// of columns is a multiple of the ISA level's lanes.
void emitBlock(OnlineInitOp op, const IsaLevel &isa);
void emitBlock(OnlineProbabilitiesOp op, const IsaLevel &isa);
void emitBlock(OnlineUpdateOp op, const IsaLevel &isa);
void emitBlock(OnlineFinishOp op, const IsaLevel &isa);

/// Builds the code of the op, which only blocks need, in front of it.
void emitPairs(OnlinePairsOp op, const IsaLevel &isa);
void emitWiden(OnlineWidenOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCK_H
