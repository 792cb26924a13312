//===- AttentionPlace.h - A block of attention by warpgroups ----*- C++ -*-===//
//
// What copying and multiplying threads both know (AttentionWarpgroups.h):
// shape, shared memory, queries, keys.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONPLACE_H
#define HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONPLACE_H

#include "lib/Kernels/Gpu/Attention/QueryBlocks.h"
#include "lib/Kernels/Gpu/Attention/SwizzledTile.h"
#include "lib/Kernels/Gpu/Threads/StageRing.h"

namespace heddle {

/// Queries that a warpgroup multiplies.
inline constexpr int64_t kWarpgroupQueries = 64;
inline constexpr int64_t kWarpgroupWarps = kWarpgroupThreads / kWarpThreads;

/// Warpgroups that multiply, beside the one that copies; tiles of keys or of
/// values in the ring, at least 3; and how many blocks a multiprocessor has.
struct AttentionShape {
  int64_t warpgroups, stages, blocks;
  /// Of a thread that copies and of one that multiplies: as many in all as the
  /// compiler gives such a block.
  int64_t copyRegisters, productRegisters;
  /// Whether two warpgroups that multiply take turns: one begins its products
  /// after the other has begun its own, and computes its softmax meanwhile.
  bool takesTurns = false;
  /// Of a tile.
  int64_t keys = 0;

  int64_t queries() const { return warpgroups * kWarpgroupQueries; }
  int64_t threads() const { return kWarpgroupThreads * (1 + warpgroups); }
  /// Tiles that are under way when one is reported: it is while there are two
  /// more, the ones that are multiplied, so that no one waits for tiles that
  /// are there.
  int64_t underWay() const { return stages - 3; }
};

/// What a block has in shared memory: its queries, the ring, and for each stage
/// a word of each warp that copies, which says whether it has taken anything
/// out of the values.
struct AttentionMemory {
  int64_t stages;
  SwizzledTile queries, keys, values;

  AttentionMemory(AttentionOp op, const AttentionShape &shape);
  StageRing ring() const {
    return {stages, std::max(keys.bytes(), values.bytes()), queries.bytes()};
  }
  /// Where the words of a stage begin.
  mlir::Value foundOf(mlir::Value slot, BlockCode &code) const;
  int64_t bytes() const;
};

struct AttentionPlace {
  /// `mask` is the op's as the head has it.
  AttentionPlace(AttentionOp op, mlir::Value mask, const AttentionShape &shape,
                 const QueryRows &block, WarpgroupCode &code);

  QueryBlock asked() const { return block.asked(op, shape.queries(), code); }
  KeyTiles walk(const QueryBlock &asked) const {
    return {mask, asked,          code.index(0), memory.keys.rows,
            code, block.positions};
  }
  /// Whether a tile has keys, and where the one behind it begins.
  mlir::Value hasKeys(const KeyTile &tile) const;
  mlir::Value behind(const KeyTile &tile) const;

  AttentionOp op;
  mlir::Value mask;
  const AttentionShape &shape;
  const QueryRows &block;
  WarpgroupCode &code;
  AttentionMemory memory;
  StageRing ring;
  OperandRows rows;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_GPU_ATTENTION_ATTENTIONPLACE_H
