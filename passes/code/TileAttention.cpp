//===- TileAttention.cpp - Attention as loops over tiles of keys ----------===//
//
// The full and the ragged form work on blocks of queries, one vector lane a
// query, the step form on one query at a time (StepTiler.h), and the extend
// form on both (PrefillTiler.h). Either way a task walks over its share of
// (batch, head, block), asks the mask which tiles of keys matter, and takes
// them in ascending order: probabilities, then the sum of the values that they
// multiply. A query's bits do not depend on its block or task.
//
//===----------------------------------------------------------------------===//

#include "dialect/attention/Attention.h"
#include "lib/Kernels/Attention/PrefillTiler.h"
#include "lib/Kernels/Attention/StepTiler.h"
#include "lib/Kernels/Attention/ValueCopy.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"

namespace heddle {
#define GEN_PASS_DEF_TILEATTENTIONPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Scratch memory and code grow with the width of a head; the widest of the
/// literature are 256.
static constexpr int64_t kMostHeadWidth = 512;
/// Blocks of queries of a head, at least, that share such values, or a copy:
/// making them costs as much as one block.
static constexpr int64_t kSharingBlocks = 8;

namespace {
/// Where a task finds a sentence: the mask's number of it and, if keys are
/// ragged, its first row and how many it has.
struct Sentence {
  Value number;
  Value start = {}, length = {};
};

/// Block `number` of the queries of a head, and whether the head has so many
/// that they share a copy of its values.
struct HeadBlock {
  Sentence sentence;
  Value head, number, shares;
};

/// Blocks of all heads: how many, the work of one, how many heads there are,
/// and whether most of these have blocks that share a copy.
struct AllBlocks {
  Value units, unitWork, heads, shares;
};

class BlockTiler : public AttentionTasks {
public:
  using AttentionTasks::AttentionTasks;

  void tileFull();
  void tileRagged();

private:
  Value columnsOf(const Group &group, const HeadBlock &block);
  Value meanLength();
  Value blocksOf(const Group &group);
  Value mostBlocks();
  bool mayCopyValues() const;
  Value rowsOf(Value memref, const Sentence &sentence, Value head,
               int64_t width);
  Value relativeRowsOf(Value table, Value head);
  HeadView viewOf(const Group &group, const Sentence &sentence, Value head,
                  Value values);
  void tileBlocks(const AllBlocks &all,
                  function_ref<HeadBlock(Value unit)> find,
                  function_ref<void(const Group &, const HeadBlock &,
                                    const HeadView &, const TaskScratch &)>
                      build);
  void queries(const Group &group, const HeadBlock &block, HeadView view,
               const TaskScratch &scratch);
  void raggedQueries(const HeadBlock &block, const HeadView &view,
                     const TaskScratch &scratch);
  void queryBlock(const HeadView &view, Value first,
                  const TaskScratch &scratch);
};
} // namespace

/// A number for the first values of a block's head in columns.
Value BlockTiler::columnsOf(const Group &group, const HeadBlock &block) {
  Value number = headNumber(block.sentence.number, block.head);
  return loops.add(loops.mul(number, remainders), group.firstRemainder);
}

//===----------------------------------------------------------------------===//
// The full form
//===----------------------------------------------------------------------===//

/// Of ragged keys, those of a sentence.
Value BlockTiler::meanLength() {
  Value batch = loops.size(op.getLengths(), 0);
  return loops.uceilDiv(loops.size(op.getKey(), 0),
                        loops.max(batch, loops.index(1)));
}

/// Blocks of queries of a head: those of each remainder.
Value BlockTiler::blocksOf(const Group &group) {
  Value count = loops.size(op.getQuery(), 1);
  if (group.stride > 1)
    count = loops.uceilDiv(count, group.stride);
  return loops.mul(loops.uceilDiv(count, tiles.getSizes().queries),
                   group.stride);
}

/// Of the group that has most: others have blocks without queries then.
Value BlockTiler::mostBlocks() {
  Value most = blocksOf(groups.front());
  for (const Group &group : ArrayRef(groups).drop_front())
    most = loops.max(most, blocksOf(group));
  return most;
}

/// Heads beside each other, whose rows are taken one after the other.
bool BlockTiler::mayCopyValues() const {
  AttentionOp op = this->op;
  return !op.isOfShortFloats() && !op.getValueScales() &&
         op.getKeyValueHeads() > 1 && groups.size() == 1 &&
         groups.front().stride == 1 && hasTiles();
}

/// The rows of a sentence, at the columns of a head.
Value BlockTiler::rowsOf(Value memref, const Sentence &sentence, Value head,
                         int64_t width) {
  if (!sentence.start)
    return headRows(loops, memref, sentence.number, head, width);
  Value all = headRows(loops, memref, /*batch=*/Value(), head, width);
  return someRows(loops, all, sentence.start, sentence.length);
}

/// The rows of a head, [width, 2 far + 1], of vectors of relative positions;
/// null for none.
Value BlockTiler::relativeRowsOf(Value table, Value head) {
  if (!table)
    return {};
  int64_t width = op.getKeyWidth();
  return someRows(loops, table, loops.mul(head, width),
                  loops.builder.getIndexAttr(width));
}

HeadView BlockTiler::viewOf(const Group &group, const Sentence &sentence,
                            Value head, Value values) {
  HeadView view;
  view.batch = sentence.number;
  view.head = head;
  // Queries of a list are not ragged.
  Sentence ofQueries = op.getStarts() ? Sentence{sentence.number} : sentence;
  view.queries = rowsOf(op.getQuery(), ofQueries, head, op.getQueryWidth());
  setKeyRows(view, [&](Value memref, int64_t width) {
    return rowsOf(memref, sentence, keyHead(head), width);
  });
  view.values = values;
  view.relativeKeys = relativeRowsOf(op.getRelativeKeys(), head);
  view.relativeQueries = relativeRowsOf(op.getRelativeQueries(), head);
  view.result =
      rowsOf(op.getDestination(), ofQueries, head, op.getValueWidth());
  view.parts = &group.parts;
  view.keyBegin = loops.index(0);
  view.keyEnd = sentence.length ? sentence.length : loops.size(op.getKey(), 1);
  return view;
}

/// Block `number` of the queries of a head, counted through all remainders.
void BlockTiler::queries(const Group &group, const HeadBlock &block,
                         HeadView view, const TaskScratch &scratch) {
  int64_t size = tiles.getSizes().queries;
  Value number = block.number;
  Value columns = columnsOf(group, block);
  if (group.stride == 1) {
    tiles.setColumnsOf(columns);
    return queryBlock(view, loops.mul(number, size), scratch);
  }
  Value blocks = loops.udiv(blocksOf(group), group.stride);
  view.stride = group.stride;
  view.remainder = loops.udiv(number, blocks);
  Value first = loops.mul(loops.urem(number, blocks), size);
  auto everyRowOf = [&](Value rows) {
    return everyRow(loops, rows, view.remainder, view.stride);
  };
  view.queries = everyRowOf(view.queries);
  view.mapKeyRows(everyRowOf);
  view.result = everyRowOf(view.result);
  view.keyEnd = loops.size(view.keys, 0);
  tiles.setColumnsOf(loops.add(columns, view.remainder));
  // Other groups may have more blocks than this one has remainders.
  Value isRemainder = loops.less(view.remainder, loops.index(view.stride));
  first = loops.select(isRemainder, first, loops.size(view.queries, 0));
  queryBlock(view, first, scratch);
}

/// The queries from number `first` on, where there are any.
void BlockTiler::queryBlock(const HeadView &view, Value first,
                            const TaskScratch &scratch) {
  const TileSizes &sizes = tiles.getSizes();
  Value count = loops.size(view.queries, 0);
  QueryRows rows = {first, first, first};
  auto build = [&] {
    if (!view.parts->hasTiles()) {
      Value end = loops.min(loops.add(first, sizes.queries), count);
      return loops.each(first, end, 1, [&](Value query) {
        tiles.row(view, query, query, scratch.row);
      });
    }
    if (!scratch.narrow.sums)
      return tiles.block(view, rows, scratch.wide, scratch.row);
    Value left = loops.sub(count, first);
    loops.ifElse(
        loops.lessOrEqual(left, loops.index(sizes.fewQueries)),
        [&] { tiles.block(view, rows, scratch.narrow, scratch.row); },
        [&] { tiles.block(view, rows, scratch.wide, scratch.row); });
  };
  bool hasOthers = groups.size() > 1 || view.stride > 1;
  if (hasOthers)
    loops.ifThen(loops.less(first, count), build);
  else
    build();
}

/// build() for each block, with the views of its head.
void BlockTiler::tileBlocks(
    const AllBlocks &all, function_ref<HeadBlock(Value unit)> find,
    function_ref<void(const Group &, const HeadBlock &, const HeadView &,
                      const TaskScratch &)>
        build) {
  bool mayCopy = mayCopyValues();
  std::optional<ValueCopy> copy;
  TaskScratch scratch;
  auto takeScratch = [&] {
    scratch = blockScratch();
    if (mayCopy)
      copy.emplace(loops, op.getValueWidth());
  };
  // A head whose blocks are spread over tasks has its values made anew in each.
  Value most = all.units;
  Value whole = loops.max(all.heads, loops.udiv(all.units, kSharingBlocks));
  if (tiles.usesTiles())
    most = whole;
  else if (mayCopy)
    most = loops.select(all.shares, whole, all.units);
  forEachTask(all.units, all.unitWork, most, takeScratch, [&](Value unit) {
    HeadBlock block = find(unit);
    Value values = rowsOf(op.getValue(), block.sentence, keyHead(block.head),
                          op.getValueWidth());
    if (mayCopy)
      values = copy->rows(values, headNumber(block.sentence.number, block.head),
                          block.shares);
    forGroupOf(block.head, [&](const Group &group) {
      build(group, block, viewOf(group, block.sentence, block.head, values),
            scratch);
    });
  });
  op.erase();
}

void BlockTiler::tileFull() {
  Value heads = loops.index(op.getHeads());
  Value blocks = mostBlocks();
  Value rows = loops.mul(loops.size(op.getQuery(), 0), heads);
  Value units = loops.mul(rows, blocks);
  Value keys = op.getStarts() ? meanLength() : loops.size(op.getKey(), 1);
  Value unitWork = loops.mul(keys, tiles.getSizes().queries * pairWork());
  Value shares = loops.lessOrEqual(loops.index(kSharingBlocks), blocks);
  auto find = [&](Value unit) -> HeadBlock {
    Value row = loops.udiv(unit, blocks), number = loops.urem(unit, blocks);
    Sentence sentence = {loops.udiv(row, heads)};
    if (op.getStarts()) {
      sentence.start = load(op.getStarts(), sentence.number);
      sentence.length = load(op.getLengths(), sentence.number);
    }
    return {sentence, loops.urem(row, heads), number, shares};
  };
  tileBlocks({units, unitWork, rows, shares}, find,
             [&](const Group &group, const HeadBlock &block,
                 const HeadView &view, const TaskScratch &scratch) {
               queries(group, block, view, scratch);
             });
}

//===----------------------------------------------------------------------===//
// The ragged form
//===----------------------------------------------------------------------===//

/// The blocks of queries that a block of the op's list is made of.
void BlockTiler::raggedQueries(const HeadBlock &block, const HeadView &view,
                               const TaskScratch &scratch) {
  int64_t size = tiles.getSizes().queries;
  assert(kQueryBlock % size == 0 && "blocks are made of whole ones");
  Value first = loops.mul(block.number, kQueryBlock);
  if (size == kQueryBlock)
    return queryBlock(view, first, scratch);
  Value end = loops.min(loops.add(first, kQueryBlock), block.sentence.length);
  loops.each(first, end, size,
             [&](Value each) { queryBlock(view, each, scratch); });
}

/// As the full form, over the blocks of all sentences: those of a head of a
/// sentence follow each other, then those of its next head.
void BlockTiler::tileRagged() {
  Value heads = loops.index(op.getHeads());
  Value batch = loops.size(op.getLengths(), 0);
  Value units = loops.mul(loops.size(op.getBlocks(), 0), heads);
  Value mean = meanLength();
  Value unitWork = loops.mul(mean, kQueryBlock * pairWork());
  Value sharing = loops.index(kSharingBlocks * tiles.getSizes().queries);
  auto find = [&](Value unit) -> HeadBlock {
    Value block = loops.udiv(unit, heads);
    Value row = load(op.getBlocks(), block);
    Value position = load(op.getPositions(), row);
    Sentence sentence = {load(op.getSentences(), row),
                         loops.sub(row, position)};
    sentence.length = load(op.getLengths(), sentence.number);
    Value blocks = loops.uceilDiv(sentence.length, kQueryBlock);
    Value firstBlock = loops.sub(block, loops.udiv(position, kQueryBlock));
    Value ofSentence = loops.sub(unit, loops.mul(firstBlock, heads));
    return {sentence, loops.udiv(ofSentence, blocks),
            loops.urem(ofSentence, blocks),
            loops.lessOrEqual(sharing, sentence.length)};
  };
  tileBlocks({units, unitWork, loops.mul(batch, heads),
              loops.lessOrEqual(sharing, mean)},
             find,
             [&](const Group &group, const HeadBlock &block,
                 const HeadView &view, const TaskScratch &scratch) {
               tiles.setColumnsOf(columnsOf(group, block));
               raggedQueries(block, view, scratch);
             });
}

/// Whether rows are contiguous along their width.
static bool hasContiguousRows(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && type.isLastDimUnitStride();
}

/// A history counts rows through all caches.
static bool hasDenseCaches(AttentionOp op) {
  return !op.getHistory() ||
         llvm::all_of(ArrayRef<Value>{op.getKey(), op.getValue(),
                                      op.getKeyScales(), op.getValueScales()},
                      [](Value kept) { return !kept || isRows(kept); });
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
          llvm::all_of(buffers, hasContiguousRows) && hasDenseCaches(op))
        ops.push_back(op);
    });
    for (AttentionOp op : ops) {
      OpBuilder builder(op);
      if (op.isStep()) {
        if (op.getPrefill())
          PrefillTiler(op, builder, *level).tile();
        else
          StepTiler(op, builder, *level).tile();
        continue;
      }
      BlockTiler tiler(op, builder, *level);
      // Vectors of relative positions are loaded for blocks alone.
      if (op.isRelative() && tiler.hasLists())
        continue;
      op.isRagged() ? tiler.tileRagged() : tiler.tileFull();
    }
  }
};
} // namespace
