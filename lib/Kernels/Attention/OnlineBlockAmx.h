//===- OnlineBlockAmx.h - Attention of bf16 by tiles ------------*- C++ -*-===//
//
// Levels with tiles (AMX) multiply a block of queries by 32 keys at once: keys
// as they stand by queries in pairs, and values in columns by probabilities in
// pairs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCKAMX_H
#define HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCKAMX_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Vectors/VectorLoops.h"

namespace heddle {

/// Builds the scores of `kKeyGroup` keys from `key` on, unscaled, in the
/// scratch memory of the op. Its queries are flattened, [width / 2, 2 *
/// columns]; no row behind the last key is read, and what stands in its place
/// is any number or none.
void emitAmxScores(VectorLoops &loops, OnlineProbabilitiesOp op,
                   mlir::Value queries, mlir::Value key);

/// Each builds the code of the op in front of it.
void emitColumns(OnlineColumnsOp op, const IsaLevel &isa);
/// Of an op with columns.
void emitAmxUpdate(OnlineUpdateOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ATTENTION_ONLINEBLOCKAMX_H
