//===- OnlineState.h - What a query remembers of its keys -------*- C++ -*-===//
//
// Agreed between the emitters of the online ops: the rows of their state, and
// the mark of a weight that does not count.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_ONLINESTATE_H
#define HEDDLE_LIB_KERNELS_ONLINESTATE_H

#include "lib/Kernels/VectorLoops.h"

namespace heddle {

/// Rows of the state. The maximum is kept negated, as sums start from it; it
/// moves where a score exceeds it by more than the threshold, which is -inf
/// until a query has seen a key.
enum StateRow : int64_t { kNegatedMaximum, kThreshold, kTotal };

/// Weights stay below 2^8: far from infinity, and few scores move the maximum.
inline constexpr double kMaximumLag = 8;

/// -0.0, in place of a weight: this pair is not in the mask. Weights are
/// never -0.0 otherwise.
mlir::Value outsideMask(VectorLoops &loops, int64_t width);
/// The lanes of `weights` that count.
mlir::Value insideMask(VectorLoops &loops, mlir::Value weights);

/// The full part of a tile [begin, end), inside of it; empty parts are brought
/// inside, too.
std::pair<mlir::Value, mlir::Value> fullPart(VectorLoops &loops,
                                             mlir::Value begin, mlir::Value end,
                                             mlir::Value fullBegin,
                                             mlir::Value fullEnd);

/// What totals are divided by, as a factor: 0 where a total is 0.
mlir::Value reciprocal(VectorLoops &loops, mlir::Value total);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_ONLINESTATE_H
