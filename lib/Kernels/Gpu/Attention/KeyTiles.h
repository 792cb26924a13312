//===- KeyTiles.h - Which tiles of keys are read ----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_KEYTILES_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_KEYTILES_H

#include "dialect/Transformer.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// Positions by number: all of them, or every stride-th from a remainder on.
struct Positions {
  int64_t stride = 1;
  /// An i32, if there is a stride.
  mlir::Value remainder = {};

  // Of i32 or indices.
  /// The position of a number.
  mlir::Value at(mlir::Value number, BlockCode &code) const;
  /// How many stand before a position.
  mlir::Value before(mlir::Value position, BlockCode &code) const;
};

/// Keys of numbers [first, first + size), `first` being a multiple of the size.
struct KeyTile {
  /// An index, and whether all queries see all of these keys.
  mlir::Value first, isFull;
};

/// Whether the keys of a mask, which may be null, are one or two ranges of
/// closed form: walking over others takes more registers.
bool hasFewRanges(mlir::Value mask);

/// The tiles of which some queries, alike for all threads that walk over them,
/// may see a key.
class KeyTiles {
public:
  /// Keys [firstKey, block.keyCount) exist; `mask` may be null. Ranges of masks
  /// are written where `code` builds. What tiles have are those of `positions`,
  /// of the block's stride, by number; the first key is then 0.
  KeyTiles(mlir::Value mask, const QueryBlock &block, mlir::Value firstKey,
           int64_t size, BlockCode &code, const Positions &positions = {});

  /// The first tile that does not begin before `first`, a multiple of the size:
  /// not below the number of keys if there is none.
  KeyTile from(mlir::Value first);
  /// Where the tile of a key begins.
  mlir::Value floorOf(mlir::Value key);

  const int64_t size;

private:
  mlir::Value mask;
  const QueryBlock &block;
  mlir::Value firstKey;
  BlockCode &code;
  Positions positions;
  /// Behind the last key, by number.
  mlir::Value end;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_KEYTILES_H
