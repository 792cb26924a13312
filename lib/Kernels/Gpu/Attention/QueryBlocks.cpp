//===- QueryBlocks.cpp - Blocks of queries of attention -------------------===//
//
// The heads of a sentence stand side by side in a row of each operand. A block
// therefore needs the first row of its sentence, the column of its head and the
// distance between rows. If the mask has a stride, the remainder moves the
// first row and the stride multiplies the distance: the code behind counts rows
// by number and knows nothing of strides. Query heads of one group have the
// columns of one key/value head. A ragged block reads its first row, and where
// its sentence begins and ends, from the lists of the op; so does a block of a
// prompt, whose keys stand in a cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/QueryBlocks.h"
#include "dialect/attention/Attention.h"
#include "lib/Kernels/Gpu/Attention/HeadGroups.h"

using namespace mlir;
using namespace heddle;

QueryBlock QueryRows::asked(AttentionOp op, int64_t rows,
                            BlockCode &code) const {
  Value end = code.umin(code.add(first, rows), queryCount);
  Value last = positions.at(code.sub(end, code.i32(1)), code);
  return {code.toIndex(sentence),
          code.toIndex(head),
          code.toIndex(positions.at(first, code)),
          code.toIndex(code.add(last, 1)),
          keyPositions(op, code),
          positions.stride};
}

Value QueryRows::keyPositions(AttentionOp op, BlockCode &code) const {
  return start ? code.toIndex(keyCount) : code.size(op.getKey(), 1);
}

/// The queries, if `areKeys` is false, or the keys of a prompt, by position.
static HeadRows rowsOfPrompt(Value memref, const QueryRows &block, Value head,
                             int64_t width, bool areKeys, BlockCode &code) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t pitch = type.getShape().back() * bytes;
  Value pitchWord = code.i32(pitch), offset;
  if (areKeys) {
    Value slots = code.toI32(code.size(memref, 1));
    offset = code.rowOffset(code.mul(block.cache, slots), pitchWord);
  } else {
    // Position 0 may stand in front of all rows.
    Value row = code.add(block.start, block.first);
    offset = code.sub(code.rowOffset(row, pitchWord),
                      code.rowOffset(block.first, pitchWord));
  }
  Value first = code.at(code.global(memref), offset);
  return {code.at(first, code.mul(head, width * bytes)), pitch,
          areKeys ? block.keyCount : block.queryCount};
}

static HeadRows rowsOfHead(Value memref, const QueryRows &block, Value head,
                           int64_t width, BlockCode &code) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t pitch = type.getShape().back() * bytes;
  Value count = block.start ? block.keyCount : code.toI32(code.size(memref, 1));
  Value start = block.start ? block.start : code.mul(block.sentence, count);
  const Positions &positions = block.positions;
  Value row = positions.at(code.i32(0), code);
  Value first = code.at(code.global(memref),
                        code.rowOffset(code.add(start, row), code.i32(pitch)));
  return {code.at(first, code.mul(head, width * bytes)),
          pitch * positions.stride, positions.before(count, code)};
}

OperandRows heddle::rowsOf(AttentionOp op, const QueryRows &block,
                           BlockCode &code) {
  Value kvHead = code.udiv(block.head, op.getHeads() / op.getKeyValueHeads());
  auto rowsOf = [&](Value memref, Value head, int64_t width) {
    return block.cache ? rowsOfPrompt(memref, block, head, width,
                                      memref != op.getQuery(), code)
                       : rowsOfHead(memref, block, head, width, code);
  };
  OperandRows rows;
  rows.queries = rowsOf(op.getQuery(), block.head, op.getKeyWidth());
  rows.keys = rowsOf(op.getKey(), kvHead, op.getKeyWidth());
  rows.values = rowsOf(op.getValue(), kvHead, op.getValueWidth());
  return rows;
}

bool heddle::hasQueryBlocks(AttentionOp op) {
  bool mayBeBlocks = !op.isStep() || (op.getPrefill() && !readsRing(op));
  return mayBeBlocks && !op.getStarts() && op.getSimilarity().empty() &&
         !op.isRelative() && op.getKeyWidth() % 16 == 0 &&
         op.getValueWidth() % 16 == 0 &&
         areDense({op.getQuery(), op.getKey(), op.getValue()});
}

void heddle::createQueryGrid(
    AttentionOp op, int64_t rows, const BlockShape &shape, OpBuilder &builder,
    function_ref<void(BlockCode &, const QueryRows &, Value)> body) {
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  HeadGroups groups(op, rows, builder);
  if (op.isRagged() || op.getPrefill()) {
    Value blocks = op.isRagged()
                       ? loops.size(op.getBlocks(), 0)
                       : loops.add(loops.size(op.getPrefill(), 0), -1);
    Value count = loops.mul(blocks, op.getHeads());
    createGrid(builder, loc, count, shape, [&](BlockCode &code, Value number) {
      groups.forListedBlock(
          code.udiv(number, op.getHeads()), code.urem(number, op.getHeads()),
          code,
          [&](const QueryRows &block, Value mask) { body(code, block, mask); });
    });
    return;
  }
  Value heads = loops.mul(loops.size(op.getQuery(), 0), op.getHeads());
  Value queryBlocks = groups.countBlocks(loops);
  createGrid(builder, loc, loops.mul(heads, queryBlocks), shape,
             [&](BlockCode &code, Value number) {
               // Blocks of one head run together, those that see most keys of a
               // causal mask before the others.
               Value count = code.toI32(queryBlocks);
               Value ofHead = code.udiv(number, count);
               Value back = code.urem(number, count);
               Value place = code.sub(code.sub(count, code.i32(1)), back);
               groups.forBlock(code.udiv(ofHead, op.getHeads()),
                               code.urem(ofHead, op.getHeads()), place, code,
                               [&](const QueryRows &block, Value mask) {
                                 body(code, block, mask);
                               });
             });
}
