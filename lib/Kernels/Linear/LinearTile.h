//===- LinearTile.h - Vector code of a tile of linear -----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_LINEAR_LINEARTILE_H
#define HEDDLE_LIB_KERNELS_LINEAR_LINEARTILE_H

#include "dialect/Transformer.h"
#include "lib/CodeGen/Machine/Target.h"

namespace heddle {

/// Groups of inputs for which a tile asks for `fetched` rows of W: so few at a
/// time that the buffers of the L1 cache, in which they wait for memory, do not
/// run out of room for what comes from the L2.
inline constexpr int64_t kFetchingGroups = 8;

/// Builds the code of a tile in front of the op, which stays. Each element is
/// the sum over the depth, ascending, of one step of MultiplyAdd.h each, and
/// then the bias: the size of the tile changes no bit.
void emitLinearTile(LinearTileOp op, const IsaLevel &isa);

/// The same sums, of a `linear.sums`.
void emitLinearSums(LinearSumsOp op, const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_LINEAR_LINEARTILE_H
