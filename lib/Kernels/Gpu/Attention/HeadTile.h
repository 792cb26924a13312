//===- HeadTile.h - Rows of one head in shared memory -----------*- C++ -*-===//
//
// Queries, keys or values, in words of 32 bits of the width: two short floats
// or one f32, as in ProductBlock.h. A row takes four words more than it has, so
// that no fragment that a warp loads meets two words of one bank.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADTILE_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADTILE_H

#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// Depth of one mma.sync, in words.
inline constexpr int64_t kStepWords = 8;

/// Rows of one head in the device's memory.
struct HeadRows {
  /// To row 0, aligned to 16 bytes; rows begin `pitch` bytes apart.
  mlir::Value first;
  int64_t pitch;
  /// Those that exist, i32.
  mlir::Value count;
};

/// What a thread has of a tile: pieces of four words of shared memory, in rows
/// and parts of them.
struct TilePieces {
  int64_t parts, rows;
  /// To a piece.
  llvm::function_ref<mlir::Value(int64_t part, int64_t row)> at;
  /// Whether the thread has that part; null for yes.
  llvm::function_ref<mlir::Value(int64_t part)> has;
};

/// What is no number or infinite becomes 0 in pieces of an element type;
/// returns whether there was any.
mlir::Value clearOthers(mlir::Type element, const TilePieces &pieces,
                        BlockCode &code);

struct HeadTile {
  /// A short float or f32.
  mlir::Type element;
  int64_t rows;
  /// In elements: a whole number of steps.
  int64_t width;
  /// Where it begins in shared memory, in bytes.
  int64_t memory;

  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  int64_t elementsOfWord() const { return 4 / elementBytes(); }
  int64_t steps() const { return width / (kStepWords * elementsOfWord()); }
  int64_t pitch() const { return width * elementBytes() + 16; }
  int64_t bytes() const { return rows * pitch(); }
  int64_t end() const { return memory + bytes(); }

  /// Begins to copy rows [first, first + rows), i32; behind the last one zeros
  /// are written. All threads get here, each copies pieces of 16 bytes.
  void copy(const HeadRows &source, mlir::Value first, BlockCode &code) const;
  /// What is no number or infinite becomes 0, in the pieces that this thread
  /// has copied; returns whether there was any.
  mlir::Value clearOthers(BlockCode &code) const;

  /// To give to the methods below: where row `row`, i32, begins, as this lane
  /// sees it.
  mlir::Value rowsFrom(mlir::Value row, BlockCode &code) const;
  mlir::Value columnsFrom(BlockCode &code) const;
  /// 16 rows from number `row` on, 8 words of the width: a fragment A, or the
  /// fragments B of two groups of 8 rows as columns: of the first one words 0
  /// and 2, of the second one words 1 and 3.
  FourWords rowFragments(mlir::Value rows, int64_t row, int64_t step,
                         BlockCode &code) const;
  /// Fragments B whose depth are 8 words of rows from number `row` on: of
  /// columns [column, column + 8) words 0 and 1, of the next 8 words 2 and 3.
  /// In f32 row 2 t of a step takes place t, and row 2 t + 1 place t + 4: those
  /// of sums of two columns side by side, as fragments A.
  FourWords columnFragments(mlir::Value columns, int64_t row, int64_t column,
                            BlockCode &code) const;

private:
  // Who copies what: neighbouring lanes, a power of 2, have neighbouring pieces
  // of 16 bytes of a row, and a thread the same ones of each of its rows. So
  // all of its addresses of a tile are constants behind a few: a division for
  // each piece would be done once, in front of all tiles, and take registers.
  int64_t pieces() const;
  int64_t lanes(const BlockCode &code) const;
  /// The thread's first row, its first piece of a row, in bytes, and where this
  /// stands.
  mlir::Value firstRow(BlockCode &code) const;
  mlir::Value firstPiece(BlockCode &code) const;
  mlir::Value firstPlace(BlockCode &code) const;
  mlir::Value hasPiece(int64_t piece, BlockCode &code) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_HEADTILE_H
