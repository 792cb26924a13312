//===- TileOrder.h - Which tile of a product is whose -----------*- C++ -*-===//
//
// Tiles are in such an order that those that are under way at once are near a
// square: of a few blocks of columns all rows, one row of tiles after the
// other, before the next columns. So weights and rows are met in the L2 cache.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_TILEORDER_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_TILEORDER_H

#include "lib/CodeGen/Loops/Loops.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// Rows and panels of a tile, and how many blocks of rows and of columns there
/// are: of rows an index, and i32 if a kernel asks.
struct Tiling {
  int64_t rows, panels;
  mlir::Value rowBlocks;
  int64_t columnBlocks;
};

/// A tile as its block of rows and of columns, i32.
struct TileBlocks {
  mlir::Value row, column;
};

/// Builds where the tile with a number stands, i32, in a kernel.
TileBlocks placeTile(mlir::Value number, const Tiling &tiling, BlockCode &code);

/// Two tiles each for two blocks: of the same columns, one below the other. An
/// odd row of tiles is left, of which pairs stand side by side; if one of
/// these has no second tile, it has the place of the first one, and is not
/// there.
class TilePairs {
public:
  /// Builds in front of a grid how many there are.
  TilePairs(const Tiling &tiling, Loops &loops);
  /// An index.
  mlir::Value count() const { return all; }

  struct Tile {
    TileBlocks place;
    mlir::Value exists;
  };
  /// Builds the first or second tile of a pair, as `second`, i32, says.
  Tile find(mlir::Value pair, mlir::Value second, BlockCode &code) const;
  /// Builds whether the two have the same columns.
  mlir::Value haveSameColumns(mlir::Value pair, BlockCode &code) const;

private:
  mlir::Value isBelow(mlir::Value pair, BlockCode &code) const;
  mlir::Value firstColumn(mlir::Value pair, BlockCode &code) const;

  Tiling tiling;
  /// Indices: rows of pairs one below the other, how many pairs that is, and
  /// with those side by side.
  mlir::Value rowPairs, below, all;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_TILEORDER_H
