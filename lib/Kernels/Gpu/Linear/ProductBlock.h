//===- ProductBlock.h - A block's tile of x W, in words ---------*- C++ -*-===//
//
// A word is 32 bits of depth: one f32, two short floats or four i8. In words,
// rows of x [rows, depth] and panels of W [panels, depth, 32]
// (dialect/linear/PanelLayout.h) have one form for all types, which is that of
// tensor cores, too: a step of mma.sync takes 8 words of depth whatever they
// hold, and a thread its B fragment from one word for each of the lower and
// upper four. So weights are read as they stand in the artifact.
//
// Fragments take four columns that stand side by side, one of each of four
// products, for one load of 16 bytes; then a thread's sums are of columns side
// by side, too. Sums of f32 are fused multiply-adds, depth ascending: the same
// bits as a CPU's, unless tf32 is asked for. No shape changes the bits of a
// row.
//
// Depth passes through shared memory, 16 words in a stage: rows 20 words apart
// for x, 40 for panels, so that no load of a warp meets two words of one bank.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTBLOCK_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTBLOCK_H

#include "dialect/linear/PanelLayout.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

namespace heddle {

/// What a block multiplies at once. Warps stand side by side in both
/// directions.
struct ProductShape {
  /// Of a warp: a multiple of 16 rows, and panels.
  int64_t warpRows, warpPanels;
  int64_t rowWarps, panelWarps;
  int64_t stages;

  constexpr int64_t rows() const { return warpRows * rowWarps; }
  constexpr int64_t panels() const { return warpPanels * panelWarps; }
  constexpr int64_t threads() const {
    return kWarpThreads * rowWarps * panelWarps;
  }
  int64_t stageBytes() const;
  BlockShape block() const { return {threads(), stages * stageBytes()}; }
};

/// What is multiplied. Rows and panels behind the last count as zeros.
struct ProductOperands {
  /// f32, bf16, f16 or i8.
  mlir::Type element;
  /// Of a row, in elements.
  int64_t depth;
  /// The first row of x and those that are left from it on, i32; rows begin
  /// `pitch` bytes apart, a multiple of 4.
  mlir::Value x, rows;
  int64_t pitch;
  /// The first panel of W and those that are left, i32.
  mlir::Value panel, panels;

  PanelLayout layout() const {
    return {weightFormatOf(element, /*isScaled=*/false), {}};
  }
  /// How many of `most` bytes of a row of x from `at` on are there, where its
  /// stages are `stageBytes` long.
  mlir::Value bytesFrom(mlir::Value at, int64_t most, int64_t stageBytes,
                        BlockCode &code) const;
};

/// Sums of four columns side by side, of one row of the block.
struct ProductPiece {
  /// i32: the row, and the first column as a panel of the block and a multiple
  /// of 4 in it.
  mlir::Value row, panel, column;
  /// i32 of i8, else f32.
  FourWords sums;
};

/// Whether products of that type are fused multiply-adds, not tensor cores'.
bool isFusedProduct(mlir::Type element, bool multipliesTf32);

/// Builds the product of a block, whose threads all get here; each gets its own
/// pieces, row by row.
llvm::SmallVector<ProductPiece> multiplyBlock(const ProductShape &shape,
                                              const ProductOperands &operands,
                                              BlockCode &code);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_PRODUCTBLOCK_H
