//===- AttentionStep.h - Steps of attention on a GPU ------------*- C++ -*-===//
//
// One query a row: a block takes a query of one head, or those of heads that
// share keys and of which the mask says the same, and a chunk of their keys
// (Flash-Decoding). Warp w of n takes tiles of 32 keys w, w + n, ..., read in
// pieces of 16 bytes. States of warps meet in shared memory; those of chunks,
// if caches have more than one, in a second grid.
//
// Chunks count from a row's first key, tiles begin at multiples of 32 and all
// states meet in one order; a state of no keys changes no bit. So a row's bits
// are functions of its own position and keys.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONSTEP_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONSTEP_H

#include "dialect/Transformer.h"

namespace heddle {

/// Builds the grids of a step in front of it: of scaled products of heads whose
/// rows are pieces of 16 bytes. Fails for others. `areGenerated` leaves rows of
/// prompts alone, which blocks of queries compute.
mlir::LogicalResult emitSteps(AttentionOp op, bool areGenerated = false);
/// Whether it does not fail.
bool hasSteps(AttentionOp op);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONSTEP_H
