//===- KeyTiles.h - Which tiles of keys are read ----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_KEYTILES_H
#define HEDDLE_LIB_KERNELS_GPU_KEYTILES_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/BlockCode.h"

namespace heddle {

/// Keys [first, first + size), `first` being a multiple of the size.
struct KeyTile {
  /// An index, and whether all queries see all of these keys.
  mlir::Value first, isFull;
};

/// The tiles of which some queries, alike for all threads that walk over them,
/// may see a key.
class KeyTiles {
public:
  /// Keys [firstKey, block.keyCount) exist; `mask` may be null. Ranges of masks
  /// are written where `code` builds.
  KeyTiles(mlir::Value mask, const QueryBlock &block, mlir::Value firstKey,
           int64_t size, BlockCode &code);

  /// The first tile that does not begin before `first`, a multiple of the size:
  /// not below the key count where there is none.
  KeyTile from(mlir::Value first);
  /// Where the tile of a key begins.
  mlir::Value floorOf(mlir::Value key);

  const int64_t size;

private:
  mlir::Value mask;
  const QueryBlock &block;
  mlir::Value firstKey;
  BlockCode &code;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_KEYTILES_H
