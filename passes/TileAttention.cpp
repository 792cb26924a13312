//===- TileAttention.cpp - Attention as loops over tiles of keys ----------===//
//
// The full form works on blocks of queries, one vector lane a query, and the
// step form on one query at a time. Either way a task walks over its share of
// (batch, head, block), asks the mask which tiles of keys matter, and takes
// them in ascending order: weights, then the sum of weighted values. What a
// query computes does not depend on which block or task it falls into.
//
//===----------------------------------------------------------------------===//

#include "dialect/Attention.h"
#include "lib/Kernels/HeadRow.h"
#include "lib/Kernels/ValueCopy.h"
#include "lib/Kernels/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace heddle {
#define GEN_PASS_DEF_TILEATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Multiply-adds of a task: about 20 us of one core.
static constexpr int64_t kTaskWork = 1200000;
/// Operations that a function of math, such as tanh, costs.
static constexpr int64_t kFunctionOperations = 32;
/// Scratch memory and code grow with the width of a head; the widest of the
/// literature are 256.
static constexpr int64_t kMostHeadWidth = 512;
/// Columns of a tile: queries, where a level multiplies tiles.
static constexpr int64_t kTileColumns = 16;
/// Blocks of queries of a head, at least, that share such values, or a copy:
/// making them costs as much as one block.
static constexpr int64_t kSharingBlocks = 8;
/// Bytes of values in columns that a task keeps: in the L2 cache, beside keys.
static constexpr int64_t kColumnBytes = 1 << 19;

namespace {
/// The sizes of tiles, as measured.
struct TileSizes {
  /// Queries of a block: two vectors. Their scores take half of the registers.
  int64_t queries;
  /// Keys whose scores stay in registers, and whose weights stay in scratch
  /// memory until their values are added.
  int64_t scores, weights;
  /// Queries of a block where few are left.
  int64_t fewQueries;
  /// Keys that runs are multiples of.
  int64_t run;
};

/// Values in columns, of the head that a task is at.
struct ValueColumns {
  Value memref, slots, head;
};

/// Scratch memory of a block of queries, or of one query.
struct BlockScratch {
  Value queries, weights, sums, state;
  /// Of bf16: the values of a tile of keys in pairs, for a block; the scores of
  /// one query, or of a group of keys, which has memory for the last ones.
  Value pairs, scores, last;
  /// The keys of a tile as a similarity region reads them, where they do not
  /// stand so.
  Value copies;
};

class AttentionTiler {
public:
  AttentionTiler(AttentionOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa), usesTiles(multipliesTiles()),
        sizes{usesTiles ? 2 * kTileColumns : 2 * isa.lanes,
              isa.vectorRegisters / 4, /*weights=*/256,
              usesTiles ? kTileColumns : isa.lanes,
              usesTiles ? kKeyGroup : isa.vectorRegisters / 4} {}

  void tileFull();
  void tileStep();

private:
  bool hasSimilarity() { return !op.getSimilarity().empty(); }
  bool multipliesTiles();
  Value scratch(ArrayRef<int64_t> shape, Type element);
  Value factors(int64_t size, int64_t count);
  Value keyHead(Value head);
  Value headNumber(Value batch, Value head);
  int64_t pairWork();
  void forEachTask(Value units, Value unitWork, Value most,
                   function_ref<void()> takeScratch,
                   function_ref<void(Value)> unit);
  BlockScratch blockScratch(int64_t count);
  ValueColumns takeColumns();
  void queryBlock(Value batch, Value head, Value first, Value values,
                  const BlockScratch &block);
  void queryRow(Value row, Value head);
  void forEachTile(Value count, bool isAligned,
                   function_ref<void(Value, Value, ArrayRef<Value>)> tile);
  bool scalesExponents();
  float effectiveScale();
  float queryScale();
  float scoreScale();
  float exponentFactor();
  void createUpdate(Value values, Value begin, Value end, ArrayRef<Value> run,
                    Value origin);
  void createWeights(Value keys, Value begin, Value end, ArrayRef<Value> run,
                     Value batch, Value head, Value first, Value origin);

  AttentionOp op;
  VectorLoops loops;
  bool usesTiles;
  TileSizes sizes;
  /// What the current block or query works in.
  BlockScratch block;
  ValueColumns columns;
  Value runs;
};
} // namespace

/// Whether blocks of queries are multiplied in tiles, of bf16 and whole widths:
/// with values, and with keys where no region scores them.
bool AttentionTiler::multipliesTiles() {
  return loops.isa.hasTiles && op.isOfBf16() && !op.isStep() &&
         (hasSimilarity() || op.getKeyWidth() % kKeyGroup == 0) &&
         op.getValueWidth() % kKeyGroup == 0;
}

Value AttentionTiler::scratch(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(loops.builder, loops.loc,
                                  MemRefType::get(shape, element), ValueRange(),
                                  loops.builder.getI64IntegerAttr(64));
}

/// Scratch memory for what is multiplied, [size, count]: of bf16 in pairs.
Value AttentionTiler::factors(int64_t size, int64_t count) {
  if (!op.isOfBf16())
    return scratch({size, count}, loops.builder.getF32Type());
  int64_t pairs = llvm::divideCeil(size, 2);
  return scratch({pairs, count, 2}, loops.builder.getBF16Type());
}

/// The head of keys and values that a head of queries reads.
Value AttentionTiler::keyHead(Value head) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  if (group == 1)
    return head;
  return arith::DivUIOp::create(loops.builder, loops.loc, head,
                                loops.index(group));
}

/// The same, counted through all sentences.
Value AttentionTiler::headNumber(Value batch, Value head) {
  Value heads = loops.index(op.getKeyValueHeads());
  return loops.plus(
      arith::MulIOp::create(loops.builder, loops.loc, batch, heads),
      keyHead(head));
}

/// Multiply-adds of a pair of a query and a key.
int64_t AttentionTiler::pairWork() {
  return similarityOperations(op, kFunctionOperations) / 2 + op.getValueWidth();
}

/// Splits [0, units) among at most `most` tasks that are worth one.
void AttentionTiler::forEachTask(Value units, Value unitWork, Value most,
                                 function_ref<void()> takeScratch,
                                 function_ref<void(Value)> unit) {
  OpBuilder &builder = loops.builder;
  auto multiply = [&](Value lhs, Value rhs) -> Value {
    return arith::MulIOp::create(builder, loops.loc, lhs, rhs);
  };
  auto divide = [&](Value lhs, Value rhs) -> Value {
    return arith::DivUIOp::create(builder, loops.loc, lhs, rhs);
  };
  Value worth = divide(multiply(units, unitWork), loops.index(kTaskWork));
  Value tasks = loops.clamp(worth, loops.index(1), most);
  auto loop =
      scf::ForallOp::create(builder, loops.loc, ArrayRef<OpFoldResult>{tasks},
                            /*outputs=*/ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getTerminator());
  Value task = loop.getInductionVar(0);
  takeScratch();
  Value begin = divide(multiply(task, units), tasks);
  Value end = divide(multiply(loops.plus(task, 1), units), tasks);
  loops.each(begin, end, 1, unit);
}

/// Whether the scale is part of the factor that makes exponents of scores: its
/// rounding then changes differences of scores alone. Where others read scores,
/// and where no ordinary number is left of the factor, queries carry it, or
/// scores where queries are bf16.
bool AttentionTiler::scalesExponents() {
  double scale = effectiveScale();
  return op.getNormalizer() == Normalizer::Softmax && op.getScore().empty() &&
         scale > 0x1p-64 && scale < 0x1p64;
}
/// Similarity regions have none.
float AttentionTiler::effectiveScale() {
  return hasSimilarity() ? 1 : op.getEffectiveScale();
}
float AttentionTiler::queryScale() {
  return scalesExponents() || op.isOfBf16() ? 1 : effectiveScale();
}
float AttentionTiler::scoreScale() {
  return scalesExponents() || !op.isOfBf16() ? 1 : effectiveScale();
}
float AttentionTiler::exponentFactor() {
  return scalesExponents() ? effectiveScale() * M_LOG2E : M_LOG2E;
}

void AttentionTiler::createWeights(Value keys, Value begin, Value end,
                                   ArrayRef<Value> run, Value batch, Value head,
                                   Value first, Value origin) {
  OpBuilder &builder = loops.builder;
  auto tile = OnlineWeightsOp::create(
      builder, loops.loc, block.queries, keys, begin, end, run[2], run[3],
      op.getMask(), batch, head, first, origin, block.scores, block.last,
      block.copies, block.weights, block.sums, block.state,
      builder.getF32FloatAttr(exponentFactor()),
      builder.getF32FloatAttr(scoreScale()),
      builder.getI64IntegerAttr(sizes.scores), op.getNormalizerAttr());
  IRMapping mapping;
  op.getSimilarity().cloneInto(&tile.getSimilarity(), mapping);
  op.getScore().cloneInto(&tile.getScore(), mapping);
  op.getWeighting().cloneInto(&tile.getWeighting(), mapping);
}

void AttentionTiler::createUpdate(Value values, Value begin, Value end,
                                  ArrayRef<Value> run, Value origin) {
  if (columns.memref)
    OnlineColumnsOp::create(loops.builder, loops.loc, values, begin, end,
                            columns.head, columns.memref, columns.slots);
  if (block.pairs) {
    OnlinePairsOp::create(loops.builder, loops.loc, values, begin, end,
                          block.pairs);
    values = block.pairs;
  }
  OnlineUpdateOp::create(loops.builder, loops.loc, block.weights, values, begin,
                         end, run[2], run[3], origin, columns.memref,
                         columns.slots, block.sums,
                         loops.builder.getI64IntegerAttr(sizes.scores));
}

/// Tiles of at most `sizes.weights` keys of all runs; aligned ones end at
/// multiples of it.
void AttentionTiler::forEachTile(
    Value count, bool isAligned,
    function_ref<void(Value, Value, ArrayRef<Value>)> tile) {
  loops.each(loops.index(0), count, 1, [&](Value r) {
    SmallVector<Value> run;
    for (int64_t bound = 0; bound < 4; ++bound)
      run.push_back(loops.load(runs, {r, loops.index(bound)}));
    Value first = run[0];
    if (isAligned)
      first = loops.floorTo(first, sizes.weights);
    loops.each(first, run[1], sizes.weights, [&](Value begin) {
      Value end = loops.least(loops.plus(begin, sizes.weights), run[1]);
      tile(isAligned ? loops.most(begin, run[0]) : begin, end, run);
    });
  });
}

/// Scratch memory for `count` queries, a column each.
BlockScratch AttentionTiler::blockScratch(int64_t count) {
  Type f32 = loops.builder.getF32Type();
  BlockScratch taken;
  taken.queries = hasSimilarity() ? scratch({op.getQueryWidth(), count}, f32)
                                  : factors(op.getKeyWidth(), count);
  taken.weights = factors(sizes.weights, count);
  taken.sums = scratch({op.getValueWidth(), count}, f32);
  taken.state = scratch({kOnlineStateRows, count}, f32);
  if (hasSimilarity() && op.isOfBf16())
    taken.copies = scratch({sizes.scores, op.getKeyWidth()}, f32);
  if (hasSimilarity() || !usesTiles)
    return taken;
  taken.scores = scratch({kKeyGroup, count}, f32);
  taken.last =
      scratch({kKeyGroup, op.getKeyWidth()}, loops.builder.getBF16Type());
  return taken;
}

/// Memory for as many groups of keys as a task keeps, none of which it has.
ValueColumns AttentionTiler::takeColumns() {
  int64_t width = op.getValueWidth();
  int64_t groupBytes = kKeyGroup * width * sizeof(uint16_t);
  int64_t count = llvm::bit_floor(uint64_t(kColumnBytes / groupBytes));
  Type index = loops.builder.getIndexType();
  ValueColumns taken = {
      scratch({count, width, kKeyGroup}, loops.builder.getBF16Type()),
      scratch({count, 2}, index), /*head=*/Value()};
  loops.each(loops.index(0), loops.index(count), 1, [&](Value slot) {
    loops.store(loops.index(-1), taken.slots, {slot, loops.index(0)});
  });
  return taken;
}

/// As many queries of one head, from `first` on, as `scratch` has columns.
void AttentionTiler::queryBlock(Value batch, Value head, Value first,
                                Value values, const BlockScratch &scratch) {
  block = scratch;
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value rows = headRows(loops, op.getQuery(), batch, head, op.getQueryWidth());
  Value keys =
      headRows(loops, op.getKey(), batch, keyHead(head), op.getKeyWidth());
  Value result =
      headRows(loops, op.getDestination(), batch, head, op.getValueWidth());
  OnlineInitOp::create(builder, loc, rows, first, block.queries, block.sums,
                       block.state, builder.getF32FloatAttr(queryScale()));
  if (usesTiles)
    columns.head = headNumber(batch, head);
  // The runs of a whole block even where fewer queries are left, and whatever
  // scratch they take: what a tile is may not depend on how many there are, and
  // that depends on padding.
  auto tiles = TileRunsOp::create(builder, loc, op.getMask(), batch, head,
                                  first, loops.plus(first, sizes.queries),
                                  loops.index(0), loops.size(op.getKey(), 1),
                                  runs, builder.getI64IntegerAttr(sizes.run));
  forEachTile(tiles.getCount(), /*isAligned=*/false,
              [&](Value begin, Value end, ArrayRef<Value> run) {
                createWeights(keys, begin, end, run, batch, head, first,
                              Value());
                createUpdate(values, begin, end, run, Value());
              });
  OnlineFinishOp::create(builder, loc, block.sums, block.state, result, first,
                         op.getNormalizerAttr());
}

void AttentionTiler::tileFull() {
  OpBuilder &builder = loops.builder;
  Value heads = loops.index(op.getHeads());
  Value batches = loops.size(op.getQuery(), 0);
  Value blocks = arith::CeilDivUIOp::create(builder, loops.loc,
                                            loops.size(op.getQuery(), 1),
                                            loops.index(sizes.queries));
  Value rows = arith::MulIOp::create(builder, loops.loc, batches, heads);
  Value units = arith::MulIOp::create(builder, loops.loc, rows, blocks);
  Value unitWork =
      loops.times(loops.size(op.getKey(), 1), sizes.queries * pairWork());
  // Heads beside each other.
  bool mayCopy = !op.isOfBf16() && op.getKeyValueHeads() > 1;
  Value shares = loops.lessOrEqual(loops.index(kSharingBlocks), blocks);
  std::optional<ValueCopy> copy;
  // Few queries, as at the end of a sentence, take one vector.
  BlockScratch wide, narrow;
  bool hasNarrow = sizes.queries > sizes.fewQueries;
  auto takeScratch = [&] {
    wide = blockScratch(sizes.queries);
    if (hasNarrow)
      narrow = blockScratch(sizes.fewQueries);
    if (op.isOfBf16() && !usesTiles)
      wide.pairs = narrow.pairs = factors(sizes.weights, op.getValueWidth());
    if (usesTiles)
      columns = takeColumns();
    if (mayCopy)
      copy.emplace(loops, op.getValueWidth());
    runs = scratch({static_cast<int64_t>(kMaxKeyRanges), 4},
                   builder.getIndexType());
  };
  // A head whose blocks are spread over tasks has its values made anew in each.
  Value most = units;
  Value whole = loops.most(rows, loops.dividedBy(units, kSharingBlocks));
  if (usesTiles)
    most = whole;
  else if (mayCopy)
    most = loops.choose(shares, whole, units);
  forEachTask(units, unitWork, most, takeScratch, [&](Value unit) {
    auto divide = [&](Value value, Value by) -> Value {
      return arith::DivUIOp::create(builder, loops.loc, value, by);
    };
    auto rest = [&](Value value, Value by) -> Value {
      return arith::RemUIOp::create(builder, loops.loc, value, by);
    };
    Value row = divide(unit, blocks);
    Value first = loops.times(rest(unit, blocks), sizes.queries);
    Value batch = divide(row, heads), head = rest(row, heads);
    Value values = headRows(loops, op.getValue(), batch, keyHead(head),
                            op.getValueWidth());
    if (mayCopy)
      values = copy->rows(values, headNumber(batch, head), shares);
    if (!hasNarrow)
      return queryBlock(batch, head, first, values, wide);
    Value left = loops.minus(loops.size(op.getQuery(), 1), first);
    loops.whenElse(
        loops.lessOrEqual(left, loops.index(sizes.fewQueries)),
        [&] { queryBlock(batch, head, first, values, narrow); },
        [&] { queryBlock(batch, head, first, values, wide); });
  });
  op.erase();
}

/// The query of one row of a step, which stands at a position of its own.
void AttentionTiler::queryRow(Value row, Value head) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value sentence = loops.toIndex(loops.load(op.getSentences(), row));
  Value position = loops.toIndex(loops.load(op.getPositions(), row));
  Value keyRow = op.getShared() ? sentence : row;
  Value keyBegin = loops.index(0), keyEnd = loops.size(op.getKey(), 1), origin;
  if (!op.getShared()) {
    // A cache holds the latest positions, up to the query's own. The slot of
    // position 0 of the older lap is the origin.
    Value slots = keyEnd;
    keyEnd = loops.plus(position, 1);
    keyBegin = loops.most(keyBegin, loops.minus(keyEnd, slots));
    Value past = arith::RemUIOp::create(builder, loc, keyBegin, slots);
    origin = loops.minus(keyBegin, past);
  }
  Value keysOf = keyHead(head);
  Value rows =
      headRows(loops, op.getQuery(), Value(), head, op.getQueryWidth());
  Value keys = headRows(loops, op.getKey(), keyRow, keysOf, op.getKeyWidth());
  Value values =
      headRows(loops, op.getValue(), keyRow, keysOf, op.getValueWidth());
  Value result =
      headRows(loops, op.getDestination(), Value(), head, op.getValueWidth());
  if (op.isOfBf16() && !hasSimilarity())
    block.queries = rowView(loops, rows, row);
  OnlineInitOp::create(builder, loc, rows, row, block.queries, block.sums,
                       block.state, builder.getF32FloatAttr(queryScale()));
  auto count = TileRunsOp::create(builder, loc, op.getMask(), sentence, head,
                                  position, loops.plus(position, 1), keyBegin,
                                  keyEnd, runs, builder.getI64IntegerAttr(1));
  // Where a tile ends depends on no other row: maxima move between tiles.
  forEachTile(count.getCount(), /*isAligned=*/true,
              [&](Value begin, Value end, ArrayRef<Value> run) {
                createWeights(keys, begin, end, run, sentence, head, position,
                              origin);
                createUpdate(values, begin, end, run, origin);
              });
  OnlineFinishOp::create(builder, loc, block.sums, block.state, result, row,
                         op.getNormalizerAttr());
}

void AttentionTiler::tileStep() {
  OpBuilder &builder = loops.builder;
  sizes.scores = loops.isa.lanes;
  Value heads = loops.index(op.getHeads());
  Value units = arith::MulIOp::create(builder, loops.loc,
                                      loops.size(op.getQuery(), 0), heads);
  // A key is read for one query alone: several times the cost of a
  // multiply-add.
  constexpr int64_t kReadCost = 4;
  Value unitWork =
      loops.times(loops.size(op.getKey(), 1), kReadCost * pairWork());
  auto takeScratch = [&] {
    Type f32 = builder.getF32Type();
    Type element = op.isOfBf16() ? Type(builder.getBF16Type()) : f32;
    block = BlockScratch();
    if (!op.isOfBf16() || hasSimilarity())
      block.queries = scratch({op.getQueryWidth()}, f32);
    block.weights = scratch({sizes.weights}, element);
    block.sums = scratch({op.getValueWidth()}, f32);
    block.state = scratch({kOnlineStateRows, loops.isa.lanes}, f32);
    if (op.isOfBf16())
      block.scores = scratch({sizes.weights}, f32);
    if (hasSimilarity())
      block.copies = scratch({op.getKeyWidth(), loops.isa.lanes}, f32);
    runs = scratch({static_cast<int64_t>(kMaxKeyRanges), 4},
                   builder.getIndexType());
  };
  forEachTask(units, unitWork, units, takeScratch, [&](Value unit) {
    Value row = arith::DivUIOp::create(builder, loops.loc, unit, heads);
    Value head = arith::RemUIOp::create(builder, loops.loc, unit, heads);
    queryRow(row, head);
  });
  op.erase();
}

/// Whether rows are contiguous along their width.
static bool hasContiguousRows(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && type.isLastDimUnitStride();
}

namespace {
struct TileAttention : heddle::impl::TileAttentionPassBase<TileAttention> {
  using Base::Base;

  void runOnOperation() override {
    llvm::Expected<IsaLevel> level = getIsaLevel(isa);
    if (!level) {
      getOperation()->emitError(llvm::toString(level.takeError()));
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation()->walk([&](AttentionOp op) {
      Value buffers[] = {op.getQuery(), op.getKey(), op.getValue()};
      int64_t widest =
          std::max({op.getQueryWidth(), op.getKeyWidth(), op.getValueWidth()});
      if (widest <= kMostHeadWidth && op.getDestination() &&
          hasContiguousRows(op.getDestination()) &&
          llvm::all_of(buffers, hasContiguousRows))
        ops.push_back(op);
    });
    for (AttentionOp op : ops) {
      OpBuilder builder(op);
      AttentionTiler tiler(op, builder, *level);
      op.isStep() ? tiler.tileStep() : tiler.tileFull();
    }
  }
};
} // namespace
