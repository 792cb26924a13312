//===- TileRanking.h - Logits of a row, largest first -----------*- C++ -*-===//
//
// A warp has 256 logits of a row, eight a lane, and finds the largest of them
// in an order that neither lanes nor other rows change: two votes of the warp
// (redux.sync) for each.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_TILERANKING_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_TILERANKING_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"
#include <limits>

namespace heddle {

/// What a logit that is not there counts as.
inline constexpr float kLowestLogit = -std::numeric_limits<float>::infinity();

/// A lane's part of a row of a tile. Logits number i have ids from `firstId` +
/// 32 i on, one a lane; the row forbids those whose bit i is set. i32.
struct TileLogits {
  llvm::SmallVector<mlir::Value> logits;
  mlir::Value firstId, forbidden;
};

/// The logits of a row of a tile that may be chosen, in the order of the
/// largest first and, of equal ones, the lowest id.
class TileRanking {
public:
  TileRanking(const TileLogits &tile, BlockCode &code)
      : tile(tile), code(code) {}

  /// Numbers that are ordered as the logits are: above 0 for those that may be
  /// chosen, 0 for others: forbidden ones, -inf and what is no number.
  llvm::SmallVector<mlir::Value> keys();
  mlir::Value isForbidden(int64_t number) {
    return code.notEqual(code.bitAnd(tile.forbidden, code.i32(1 << number)),
                         code.i32(0));
  }
  mlir::Value idOf(mlir::Value number) {
    return code.add(code.add(tile.firstId, code.lane()),
                    code.mul(number, kWarpThreads));
  }

  /// The first of those that keys leave; in all lanes whether there is one, and
  /// its id. One lane is to write of it, or of that there is none; if it has
  /// it, its number and logit.
  struct First {
    mlir::Value exists, id, writes, isOwn, number, logit;
  };
  First first(mlir::ValueRange keys);
  /// Keys without it.
  llvm::SmallVector<mlir::Value> without(const First &first,
                                         mlir::ValueRange keys);

private:
  const TileLogits &tile;
  BlockCode &code;
};
} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_TILERANKING_H
