//===- WarpgroupProduct.h - Tiles of x W by warpgroups ----------*- C++ -*-===//
//
// What ProductBlock.h is for mma.sync, for wgmma: in words again, and with
// weights as they stand in the artifact. The product is that of the transposed
// matrices, W^T x^T: wgmma takes one operand from registers, which a thread
// fills with words of panels, and the other from shared memory as rows of words
// side by side, which rows of x are. So nothing is packed anew, and short
// floats and i8 have one code.
//
// The first warpgroup of a block copies, the others multiply: a ring of stages
// of 32 words of depth lies between them. Stages of a panel are one piece of
// memory, which one bulk copy moves; rows of x come by cp.async, in pieces of
// 16 bytes, to the places that the swizzle of 128 bytes wants them in.
//
// Blocks of a cluster are in step: what one of them copies of panels that all
// of them multiply, all get. So a stage is empty when warps of all blocks say
// so, to all blocks, and no block begins or ends alone.
//
// Lanes of a warp that need a word of panels each for one row of fragments find
// four of them in one bank, as 32 columns are 128 bytes. So each lane begins
// with another one of its four columns and puts them in order afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_LINEAR_WARPGROUPPRODUCT_H
#define HEDDLE_LIB_KERNELS_GPU_LINEAR_WARPGROUPPRODUCT_H

#include "lib/Kernels/Gpu/Linear/ProductBlock.h"
#include "lib/Kernels/Gpu/Threads/StageRing.h"

namespace heddle {

/// What a block multiplies at once: rows, a multiple of 16 and at most 256, by
/// four panels for each warpgroup that multiplies. There are at least 3 stages.
struct WarpgroupShape {
  int64_t rows, warpgroups, stages;
  /// Registers of a thread that copies and of one that multiplies; 0 for as
  /// many as the compiler finds.
  int64_t copyRegisters = 0, productRegisters = 0;
  /// Blocks that copy panels for each other; 1, or a power of 2.
  int64_t cluster = 1;

  constexpr int64_t panels() const { return 4 * warpgroups; }
  constexpr int64_t threads() const {
    return kWarpgroupThreads * (1 + warpgroups);
  }
  int64_t stageBytes() const;
  StageRing ring() const;
  BlockShape block() const;
};

/// The tiles that a block does one after the other, each with a number.
struct WarpgroupTiles {
  /// How many, i32: as many in all blocks of a cluster.
  mlir::Value count;
  /// Builds whether the tiles of this number have the same panels in all blocks
  /// of the cluster; asked if there is one.
  llvm::function_ref<mlir::Value(mlir::Value)> haveSamePanels;
  /// Builds what is multiplied, in threads of either kind.
  llvm::function_ref<ProductOperands(mlir::Value)> place;
  /// Builds what becomes of the sums of a thread, row by row: all of them are
  /// of the same columns. Their rows count from the thread's first one of the
  /// tile, i32: registers would hold sums of the two from one tile to the next.
  llvm::function_ref<void(mlir::Value, mlir::Value,
                          llvm::ArrayRef<ProductPiece>)>
      finish;
};

/// Builds the products of a block, whose threads all get here, of operands of
/// short floats or i8 that differ by tile in nothing but where they are.
void multiplyByWarpgroups(const WarpgroupShape &shape,
                          const WarpgroupTiles &tiles, WarpgroupCode &code);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_LINEAR_WARPGROUPPRODUCT_H
