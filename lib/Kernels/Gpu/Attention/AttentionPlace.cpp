//===- AttentionPlace.cpp - A block of attention by warpgroups ------------===//
//
// Shared memory has three parts in this order: the queries, the ring of stages
// with its barriers, and for each stage a word of each warp that copies. A
// stage holds a tile of keys or a tile of values, so it is as large as the
// larger of the two. Threads that copy and threads that multiply compute
// addresses and the walk over tiles here, so that both sides agree.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/AttentionPlace.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kWordBytes = 4;

AttentionMemory::AttentionMemory(AttentionOp op, const AttentionShape &shape)
    : stages(shape.stages),
      queries{op.getFactorType(), shape.queries(), op.getKeyWidth()},
      keys{op.getFactorType(), shape.keys, op.getKeyWidth()},
      values{op.getFactorType(), shape.keys, op.getValueWidth()} {}

Value AttentionMemory::foundOf(Value slot, BlockCode &code) const {
  return code.add(code.mul(slot, kWarpgroupWarps * kWordBytes), ring().end());
}
int64_t AttentionMemory::bytes() const {
  return ring().end() + stages * kWarpgroupWarps * kWordBytes;
}

AttentionPlace::AttentionPlace(AttentionOp op, Value mask,
                               const AttentionShape &shape,
                               const QueryRows &block, WarpgroupCode &code)
    : op(op), mask(mask), shape(shape), block(block), code(code),
      memory(op, shape), ring(memory.ring()) {
  rows = rowsOf(op, block, code);
}

Value AttentionPlace::hasKeys(const KeyTile &tile) const {
  return code.uless(tile.first, code.toIndex(block.keyCount));
}
Value AttentionPlace::behind(const KeyTile &tile) const {
  return code.add(tile.first, memory.keys.rows);
}
