//===- LinearAttentionKernel.cpp - Kernels of linear attention ------------===//
//
// Positions pass in chunks that are counted from 0: what a query's bits depend
// on is its sentence up to the last key. A task has a head and a block of the
// width of its values, a causal one from the first position to the last, so
// that memory is constant in length.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearAttention/LinearAttentionKernel.h"
#include "lib/Kernels/LinearAttention/ChunkProducts.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// Multiply-adds that take as long as loading and storing an element.
static constexpr int64_t kProductsOfElement = 32;

static int64_t sizeOf(Value memref, int64_t axis) {
  return cast<MemRefType>(memref.getType()).getDimSize(axis);
}

/// Of S [batch, heads, d_f, d_v]: [d_f, width] from `column` on.
static Value sumsOfHead(VectorLoops &loops, Value sums, Value batch, Value head,
                        Value column, int64_t width) {
  OpBuilder &builder = loops.builder;
  auto type = cast<MemRefType>(sums.getType());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {batch, head, zero, column};
  SmallVector<OpFoldResult> sizes = {one, one,
                                     builder.getIndexAttr(type.getDimSize(2)),
                                     builder.getIndexAttr(width)};
  SmallVector<OpFoldResult> strides(4, one);
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      {type.getDimSize(2), width}, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loops.loc, view, sums, offsets,
                                   sizes, strides);
}

/// Of z [batch, heads, d_f]: [d_f].
static Value totalsOfHead(VectorLoops &loops, Value totals, Value batch,
                          Value head) {
  Value rows =
      headRows(loops, totals, batch, loops.index(0), sizeOf(totals, 2));
  return rowView(loops, rows, head);
}

/// Keys of a sentence: all positions, or as many as its length says.
static Value countKeys(VectorLoops &loops, Value keys, Value lengths,
                       Value sentence) {
  Value count = loops.size(keys, 1);
  if (!lengths)
    return count;
  return loops.clamp(loops.toIndex(loops.load(lengths, sentence)),
                     loops.index(0), count);
}

namespace {
/// What a task computes with: a block of value columns of a head of a sentence.
struct ValueBlock {
  Value sentence, head, block;
  /// [n, k] of the head, [n, width] of the block, and how many keys there are.
  Value keys, values, keyCount;
};
} // namespace

/// The block of a task, out of `blocks` of `width` columns for each of `heads`.
template <typename Op>
static ValueBlock findBlock(Op op, Value task, int64_t heads, int64_t blocks,
                            int64_t width, VectorLoops &loops) {
  ValueBlock found;
  found.sentence = loops.udiv(task, heads * blocks);
  Value valueHead = loops.urem(task, heads * blocks);
  found.head = loops.udiv(valueHead, blocks);
  found.block = loops.urem(valueHead, blocks);
  found.keys = headRows(loops, op.getKey(), found.sentence, found.head,
                        sizeOf(op.getKey(), 2) / heads);
  found.values =
      headRows(loops, op.getValue(), found.sentence, valueHead, width);
  found.keyCount =
      countKeys(loops, op.getKey(), op.getLengths(), found.sentence);
  return found;
}

//===----------------------------------------------------------------------===//
// linear_attention
//===----------------------------------------------------------------------===//

bool heddle::hasKernel(LinearAttentionOp op) {
  return (op.getCausal() || op.getStep()) &&
         op.getKeyWidth() <= kMostSummedWidth &&
         op.getValueWidth() <= kMostSummedWidth;
}

/// Calls `body` with each head of queries that reads head `kvHead`.
static void forEachQueryHead(VectorLoops &loops, Value kvHead, int64_t group,
                             int64_t first, function_ref<void(Value)> body) {
  Value begin = loops.mul(kvHead, group);
  if (group == first + 1)
    return body(loops.add(begin, first));
  loops.each(loops.add(begin, first), loops.add(begin, group), 1, body);
}

static void emitCausal(LinearAttentionOp op, RowKernel &kernel) {
  int64_t kvHeads = op.getKeyValueHeads(), group = op.getHeads() / kvHeads;
  int64_t keyWidth = op.getKeyWidth();
  int64_t width = RegisterTile::blockOf(op.getValueWidth(), kernel.isa.lanes);
  int64_t blocks = op.getValueWidth() / width;
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value units = counters.mul(counters.size(op.getQuery(), 0), kvHeads * blocks);
  // Sentences have tens of positions.
  int64_t work = 32 * op.getFeatureWidth() * width / kProductsOfElement;
  kernel.forEachRow(units, work, [&](Value unit) {
    ChunkProducts tiles(kernel, op.getFeatures(), op.getMap(), keyWidth, width);
    VectorLoops &loops = tiles.getLoops();
    ValueBlock at = findBlock(op, unit, kvHeads, blocks, width, loops);
    Value length = loops.size(op.getQuery(), 1);
    Value sums = tiles.takeSums(), totals = tiles.takeTotals();
    tiles.takeKeys();
    tiles.takeQueries();
    tiles.takeCausal();
    tiles.clearSums(sums);
    tiles.clearTotals(totals);
    loops.each(loops.index(0), length, ChunkProducts::kChunk, [&](Value first) {
      Value count = loops.min(loops.sub(length, first),
                              loops.index(ChunkProducts::kChunk));
      Value chunkKeys =
          loops.clamp(loops.sub(at.keyCount, first), loops.index(0), count);
      tiles.loadKeys({at.keys, first, chunkKeys}, at.values);
      tiles.beginCausal(totals, count, chunkKeys);
      forEachQueryHead(loops, at.head, group, 0, [&](Value head) {
        Value queries =
            headRows(loops, op.getQuery(), at.sentence, head, keyWidth);
        Value resultHead = loops.add(loops.mul(head, blocks), at.block);
        Value result = headRows(loops, op.getDestinations().front(),
                                at.sentence, resultHead, width);
        tiles.loadQueries({queries, first, count}, tiles.causalTotals());
        tiles.readCausal(sums, {result, first, count});
      });
      // Nobody reads the sums behind the last chunk.
      loops.ifThen(loops.less(loops.add(first, ChunkProducts::kChunk), length),
                   [&] { tiles.addSums(sums, chunkKeys); });
    });
  });
}

static void emitStep(LinearAttentionOp op, RowKernel &kernel) {
  int64_t kvHeads = op.getKeyValueHeads(), group = op.getHeads() / kvHeads;
  int64_t keyWidth = op.getKeyWidth(), width = op.getValueWidth();
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value units = counters.mul(counters.size(op.getQuery(), 0), kvHeads);
  kernel.forEachRow(units, 2 * op.getFeatureWidth() * width, [&](Value unit) {
    ChunkProducts tiles(kernel, op.getFeatures(), op.getMap(), keyWidth, width);
    VectorLoops &loops = tiles.getLoops();
    Value row = loops.udiv(unit, kvHeads);
    Value kvHead = loops.urem(unit, kvHeads);
    Value one = loops.index(1);
    Value sums =
        sumsOfHead(loops, op.getSums(), row, kvHead, loops.index(0), width);
    Value totals = totalsOfHead(loops, op.getTotals(), row, kvHead);
    tiles.takeRow();
    tiles.loadKeys(
        {headRows(loops, op.getKey(), Value(), kvHead, keyWidth), row, one},
        headRows(loops, op.getValue(), Value(), kvHead, width));
    tiles.addTotals(totals, one);
    auto load = [&](Value head) -> PositionRows {
      tiles.loadQueries(
          {headRows(loops, op.getQuery(), Value(), head, keyWidth), row, one},
          totals);
      return {
          headRows(loops, op.getDestinations().front(), Value(), head, width),
          row, one};
    };
    tiles.advance(sums, load(loops.mul(kvHead, group)));
    if (group > 1)
      forEachQueryHead(loops, kvHead, group, 1,
                       [&](Value head) { tiles.read(sums, load(head)); });
  });
}

void heddle::emitKernel(LinearAttentionOp op, RowKernel &kernel) {
  op.getStep() ? emitStep(op, kernel) : emitCausal(op, kernel);
}

//===----------------------------------------------------------------------===//
// linear_attention.sums, linear_attention.read
//===----------------------------------------------------------------------===//

bool heddle::hasKernel(LinearAttentionSumsOp op) {
  return sizeOf(op.getKey(), 2) / int64_t(op.getHeads()) <= kMostSummedWidth &&
         sizeOf(op.getValue(), 2) / int64_t(op.getHeads()) <= kMostSummedWidth;
}

void heddle::emitKernel(LinearAttentionSumsOp op, RowKernel &kernel) {
  int64_t heads = op.getHeads();
  int64_t keyWidth = sizeOf(op.getKey(), 2) / heads;
  int64_t valueWidth = sizeOf(op.getValue(), 2) / heads;
  int64_t width = RegisterTile::blockOf(valueWidth, kernel.isa.lanes);
  int64_t blocks = valueWidth / width;
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value units = counters.mul(counters.size(op.getKey(), 0), heads * blocks);
  // Sentences have tens of positions.
  int64_t work = 32 * keyWidth * width / kProductsOfElement;
  kernel.forEachRow(units, work, [&](Value unit) {
    ChunkProducts tiles(kernel, op.getFeatures(), op.getMap(), keyWidth, width);
    VectorLoops &loops = tiles.getLoops();
    ValueBlock at = findBlock(op, unit, heads, blocks, width, loops);
    Value sums = sumsOfHead(loops, op.getDestinations()[0], at.sentence,
                            at.head, loops.mul(at.block, width), width);
    Value totals =
        totalsOfHead(loops, op.getDestinations()[1], at.sentence, at.head);
    // Totals are those of all blocks: the first one makes them.
    auto ofFirstBlock = [&](function_ref<void()> body) {
      blocks == 1 ? body()
                  : loops.ifThen(loops.equal(at.block, loops.index(0)), body);
    };
    tiles.takeKeys();
    tiles.clearSums(sums);
    ofFirstBlock([&] { tiles.clearTotals(totals); });
    loops.each(loops.index(0), at.keyCount, ChunkProducts::kChunk,
               [&](Value first) {
                 Value count = loops.min(loops.sub(at.keyCount, first),
                                         loops.index(ChunkProducts::kChunk));
                 tiles.loadKeys({at.keys, first, count}, at.values);
                 tiles.addSums(sums, count);
                 ofFirstBlock([&] { tiles.addTotals(totals, count); });
               });
  });
}

bool heddle::hasKernel(LinearAttentionReadOp op) {
  return sizeOf(op.getSums(), 2) <= kMostSummedWidth + 1 &&
         sizeOf(op.getSums(), 3) <= kMostSummedWidth;
}

static void emitReadStep(LinearAttentionReadOp op, RowKernel &kernel) {
  int64_t heads = op.getHeads(), group = heads / sizeOf(op.getSums(), 1);
  int64_t keyWidth = sizeOf(op.getQuery(), 1) / heads;
  int64_t width = sizeOf(op.getSums(), 3);
  VectorLoops counters(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value units = counters.mul(counters.size(op.getQuery(), 0), heads);
  kernel.forEachRow(units, keyWidth * width, [&](Value unit) {
    ChunkProducts tiles(kernel, op.getFeatures(), op.getMap(), keyWidth, width);
    VectorLoops &loops = tiles.getLoops();
    Value row = loops.udiv(unit, heads);
    Value head = loops.urem(unit, heads);
    Value kvHead = loops.udiv(head, group);
    Value sentence = loops.toIndex(loops.load(op.getSentences(), row));
    Value one = loops.index(1);
    tiles.takeRow();
    tiles.loadQueries(
        {headRows(loops, op.getQuery(), Value(), head, keyWidth), row, one},
        totalsOfHead(loops, op.getTotals(), sentence, kvHead));
    tiles.read(
        sumsOfHead(loops, op.getSums(), sentence, kvHead, loops.index(0),
                   width),
        {headRows(loops, op.getDestinations().front(), Value(), head, width),
         row, one});
  });
}

void heddle::emitKernel(LinearAttentionReadOp op, RowKernel &kernel) {
  if (op.getSentences())
    return emitReadStep(op, kernel);
  int64_t heads = op.getHeads(), group = heads / sizeOf(op.getSums(), 1);
  int64_t keyWidth = sizeOf(op.getQuery(), 2) / heads;
  int64_t width = sizeOf(op.getSums(), 3);
  ChunkProducts tiles(kernel, op.getFeatures(), op.getMap(), keyWidth, width);
  VectorLoops &loops = tiles.getLoops();
  Value length = loops.size(op.getQuery(), 1);
  Value chunks = loops.uceilDiv(length, loops.index(ChunkProducts::kChunk));
  Value units =
      loops.mul(loops.mul(loops.size(op.getQuery(), 0), heads), chunks);
  int64_t work = ChunkProducts::kChunk * keyWidth * width / kProductsOfElement;
  kernel.forEachRow(units, work, [&](Value unit) {
    Value sentenceHead = loops.udiv(unit, chunks);
    Value chunk = loops.sub(unit, loops.mul(sentenceHead, chunks));
    Value sentence = loops.udiv(sentenceHead, heads);
    Value head = loops.urem(sentenceHead, heads);
    Value kvHead = loops.udiv(head, group);
    Value first = loops.mul(chunk, ChunkProducts::kChunk);
    Value count =
        loops.min(loops.sub(length, first), loops.index(ChunkProducts::kChunk));
    tiles.takeQueries();
    tiles.loadQueries({headRows(loops, op.getQuery(), sentence, head, keyWidth),
                       first, count},
                      totalsOfHead(loops, op.getTotals(), sentence, kvHead));
    tiles.read(
        sumsOfHead(loops, op.getSums(), sentence, kvHead, loops.index(0),
                   width),
        {headRows(loops, op.getDestinations().front(), sentence, head, width),
         first, count});
  });
}
