//===- SwizzledTile.h - Rows of one head as wgmma reads them ----*- C++ -*-===//
//
// Queries, keys or values of short floats in shared memory: 64 columns of all
// rows, 128 bytes of each, behind that the next 64, swizzled (WarpgroupCode.h).
// Columns are the depth of one product, rows that of another. Behind the last
// column nobody writes or reads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_SWIZZLEDTILE_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_SWIZZLEDTILE_H

#include "lib/Kernels/Gpu/Attention/HeadTile.h"
#include "lib/Kernels/Gpu/Threads/WarpgroupCode.h"

namespace heddle {

struct SwizzledTile {
  mlir::Type element;
  /// Multiples of 16 and of 8; `width` is in elements.
  int64_t rows, width;

  int64_t parts() const;
  /// Of a part: from 64 columns to the next ones.
  int64_t partBytes() const;
  int64_t bytes() const { return parts() * partBytes(); }
  /// From the tile to a row, a multiple of 8, and to a column, one of 16.
  int64_t wordsTo(int64_t row, int64_t column) const;

  // What threads of the block's first warpgroup do, all of them; `memory` is
  // where the tile begins in shared memory, in bytes, a multiple of 1024.
  /// Begins to copy rows [first, first + rows), i32; behind the last one zeros
  /// are written. Each thread copies pieces of 16 bytes.
  void copy(const HeadRows &source, mlir::Value first, mlir::Value memory,
            WarpgroupCode &code) const;
  /// What is no number or infinite becomes 0, in the pieces that this thread
  /// has copied; returns whether there was any.
  mlir::Value clearOthers(mlir::Value memory, WarpgroupCode &code) const;

private:
  mlir::Value firstPiece(mlir::Value memory, WarpgroupCode &code) const;
  mlir::Value hasPieces(int64_t part, WarpgroupCode &code) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_SWIZZLEDTILE_H
