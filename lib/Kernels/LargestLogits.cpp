//===- LargestLogits.cpp - Loops and vector code of largest_logits --------===//
//
// A range of the vocabulary is a task. Its logits are those of linear, tile by
// tile, but for a few panels at a time, in scratch memory that stays in the
// caches: as soon as they are there, forbidden ones are overwritten and the
// largest one of each row is taken.
//
// The maximum of so many logits is found without their ids. Few of them are
// larger than all before: only then a second pass looks where it stands.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LargestLogits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

/// Rows whose logits stand in scratch memory together: whole tiles of any
/// level.
static constexpr int64_t kRows = 48;
/// Columns of a row of them, and bytes of the panels that they come from, which
/// stay in the L2 cache while rows pass.
static constexpr int64_t kMostColumns = 512, kPanelBytes = 1 << 19;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();

namespace {
class LargestLogitsBuilder {
public:
  LargestLogitsBuilder(LargestLogitsOp op, TileLoops &loops, bool isFetched);

  void build();

private:
  /// What stands in scratch memory: the logits of neighbouring columns, from
  /// `first` of the vocabulary on.
  struct Chunk {
    Value first;
    /// Those of them that belong to the range.
    Value begin, end;
    /// The row of x that the first row of scratch memory is.
    Value row = {};
  };
  void buildRange(Value range);
  void wholePanels(Value begin, Value end);
  void lastPanel();
  LinearBlock blockOf(Value firstPanel, int64_t panels, Value logits);
  void forEachBlock(LinearBlock block, Chunk chunk, Value firstPanel,
                    Value endPanel);
  void forbid(const Chunk &chunk, Value r);
  void takeLargest(const Chunk &chunk, Value r);
  Value maximum(const Chunk &chunk, Value r);
  void storeFirst(const Chunk &chunk, Value r, Value value, ValueRange at);
  void storeNaN(const Chunk &chunk, Value r, ValueRange at);
  Value logitsAt(Value r, Value c) {
    return loops.loadVector(scratch, {r, c}, loops.isa.lanes);
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(loops.builder, loops.loc,
                                     loops.builder.getI32IntegerAttr(value));
  }

  TileLoops &loops;
  LargestLogitsOp op;
  bool isFetched;
  Value values, ids, scratch, range;
  int64_t panels, chunkPanels;
};
} // namespace

LargestLogitsBuilder::LargestLogitsBuilder(LargestLogitsOp op, TileLoops &loops,
                                           bool isFetched)
    : loops(loops), op(op), isFetched(isFetched),
      values(op.getDestinations()[0]), ids(op.getDestinations()[1]),
      panels(op.getVocabulary() / kPanelColumns) {
  chunkPanels = std::clamp<int64_t>(kPanelBytes / panelBytes(op.getWeight()), 1,
                                    kMostColumns / kPanelColumns);
  chunkPanels = std::min(chunkPanels, std::max<int64_t>(panels, 1));
}

/// The product with `panels` panels, into `logits`; `forEachBlock` says of
/// which rows.
LinearBlock LargestLogitsBuilder::blockOf(Value firstPanel, int64_t panels,
                                          Value logits) {
  Value column = loops.times(firstPanel, kPanelColumns);
  LinearBlock block;
  block.destination = logits;
  int64_t columns = block.columns();
  block.weight = loops.slice(op.getWeight(), firstPanel, panels);
  block.weightScales = loops.slice(op.getWeightScales(), column, columns);
  block.bias = loops.slice(op.getBias(), column, columns);
  block.shift = op.getShiftAttr();
  block.isFetched = isFetched;
  return block;
}

/// All rows of a chunk, as many at a time as scratch memory holds.
void LargestLogitsBuilder::forEachBlock(LinearBlock block, Chunk chunk,
                                        Value firstPanel, Value endPanel) {
  Value count = loops.size(op.getInput(), 0), logits = block.destination;
  loops.each(loops.index(0), count, kRows, [&](Value row) {
    Value rows = loops.least(loops.index(kRows), loops.minus(count, row));
    block.input = loops.rowsOf(op.getInput(), row, rows);
    block.inputScales = loops.rowsOf(op.getInputScales(), row, rows);
    block.lastRows = loops.separateLastRows(block.input);
    block.destination = loops.rowsOf(logits, loops.index(0), rows);
    loops.tileBlock(block, firstPanel, endPanel);
    chunk.row = row;
    loops.loop(rows, [&](Value r) {
      forbid(chunk, r);
      takeLargest(chunk, r);
    });
  });
}

/// The panels [begin, end), of which none is cut. The last chunk of the
/// vocabulary starts early enough to have all its panels.
void LargestLogitsBuilder::wholePanels(Value begin, Value end) {
  loops.each(begin, end, chunkPanels, [&](Value panel) {
    Value first = loops.least(panel, loops.index(panels - chunkPanels));
    Value firstPanel = loops.minus(panel, first);
    Value endPanel =
        loops.least(loops.minus(end, first), loops.index(chunkPanels));
    Chunk chunk{loops.times(first, kPanelColumns),
                loops.times(firstPanel, kPanelColumns),
                loops.times(endPanel, kPanelColumns)};
    forEachBlock(blockOf(first, chunkPanels, scratch), chunk, firstPanel,
                 endPanel);
  });
}

void LargestLogitsBuilder::build() {
  OpBuilder &builder = loops.builder;
  auto forall = scf::ForallOp::create(
      builder, loops.loc,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(op.getNumRanges())},
      ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  buildRange(forall.getInductionVar(0));
}

void LargestLogitsBuilder::buildRange(Value number) {
  range = number;
  scratch = loops.scratch(MemRefType::get({kRows, chunkPanels * kPanelColumns},
                                          loops.builder.getF32Type()));
  loops.loop(loops.size(op.getInput(), 0), [&](Value row) {
    loops.store(loops.f32(kLowest), values, {row, range});
    loops.store(integer(-1), ids, {row, range});
  });
  int64_t count = op.getRange() / kPanelColumns;
  Value begin = loops.times(range, count);
  if (panels > 0)
    wholePanels(begin,
                loops.least(loops.plus(begin, count), loops.index(panels)));
  if (op.getVocabulary() % kPanelColumns != 0)
    loops.when(loops.same(range, loops.index(op.getNumRanges() - 1)),
               [&] { lastPanel(); });
}

/// The panel that is cut: what is missing in it counts as forbidden.
void LargestLogitsBuilder::lastPanel() {
  int64_t columns = op.getVocabulary() % kPanelColumns;
  Value zero = loops.index(0);
  loops.loop(loops.index(kRows), [&](Value r) {
    loops.each(zero, loops.index(kPanelColumns), loops.isa.lanes, [&](Value c) {
      loops.storeVector(loops.splat(kLowest, loops.isa.lanes), scratch, {r, c});
    });
  });
  auto all = [&](ArrayRef<int64_t> sizes) {
    return getAsIndexOpFoldResult(loops.builder.getContext(), sizes);
  };
  Value logits =
      memref::SubViewOp::create(loops.builder, loops.loc, scratch, all({0, 0}),
                                all({kRows, columns}), all({1, 1}));
  Chunk chunk{loops.index(panels * kPanelColumns), zero,
              loops.index(kPanelColumns)};
  forEachBlock(blockOf(loops.index(panels), 1, logits), chunk, zero,
               loops.index(1));
}

void LargestLogitsBuilder::forbid(const Chunk &chunk, Value r) {
  Value row = loops.plus(chunk.row, r);
  Value lowest = loops.f32(kLowest);
  Value width = loops.index(chunkPanels * kPanelColumns);
  loops.loop(loops.lastSize(op.getForbidden()), [&](Value f) {
    Value id = loops.toIndex(loops.load(op.getForbidden(), {row, f}));
    Value column = loops.minus(id, chunk.first);
    Value isInside = loops.both(loops.lessOrEqual(loops.index(0), column),
                                loops.less(column, width));
    loops.when(isInside, [&] { loops.store(lowest, scratch, {r, column}); });
  });
}

/// The largest number of a row of a chunk; -inf where there is none.
Value LargestLogitsBuilder::maximum(const Chunk &chunk, Value r) {
  int64_t lanes = loops.isa.lanes, vectors = kPanelColumns / lanes;
  SmallVector<Value> best(vectors, loops.splat(kLowest, lanes));
  best = loops.carry(chunk.begin, chunk.end, kPanelColumns, best,
                     [&](Value c, ValueRange carried) {
                       SmallVector<Value> next;
                       for (auto [v, each] : llvm::enumerate(carried))
                         next.push_back(loops.greater(
                             logitsAt(r, loops.plus(c, v * lanes)), each));
                       return next;
                     });
  for (Value each : ArrayRef(best).drop_front())
    best.front() = loops.greater(each, best.front());
  return vector::ReductionOp::create(
      loops.builder, loops.loc, vector::CombiningKind::MAXNUMF, best.front(),
      /*acc=*/Value(), arith::FastMathFlags::nnan);
}

void LargestLogitsBuilder::takeLargest(const Chunk &chunk, Value r) {
  SmallVector<Value> at = {loops.plus(chunk.row, r), range};
  Value most = maximum(chunk, r);
  Value hasNone =
      arith::CmpIOp::create(loops.builder, loops.loc, arith::CmpIPredicate::slt,
                            loops.load(ids, at), integer(0));
  Value bound =
      loops.choose(hasNone, loops.f32(kLowest), loops.load(values, at));
  loops.whenElse(
      loops.isAbove(most, bound), [&] { storeFirst(chunk, r, most, at); },
      [&] { loops.when(hasNone, [&] { storeNaN(chunk, r, at); }); });
}

/// Stores `value` and the first id of a row that has it.
void LargestLogitsBuilder::storeFirst(const Chunk &chunk, Value r, Value value,
                                      ValueRange at) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t lanes = loops.isa.lanes;
  auto all = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(
        builder, loc, VectorType::get(lanes, builder.getI32Type()), scalar);
  };
  Value none = all(integer(std::numeric_limits<int32_t>::max()));
  Value wanted = loops.spread(value, lanes), counted = loops.count(0, lanes);
  Value first =
      loops
          .carry(chunk.begin, chunk.end, lanes, none,
                 [&](Value c, ValueRange carried) -> SmallVector<Value> {
                   Value isThere = arith::CmpFOp::create(
                       builder, loc, arith::CmpFPredicate::OEQ, logitsAt(r, c),
                       wanted);
                   Value column = arith::AddIOp::create(builder, loc, counted,
                                                        all(loops.toI32(c)));
                   return {arith::MinSIOp::create(
                       builder, loc, carried.front(),
                       loops.choose(isThere, column, none))};
                 })
          .front();
  Value column = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::MINSI, first);
  loops.store(value, values, at);
  loops.store(
      arith::AddIOp::create(builder, loc, column, loops.toI32(chunk.first)),
      ids, at);
}

/// Stores NaN if a logit of a row is no number.
void LargestLogitsBuilder::storeNaN(const Chunk &chunk, Value r,
                                    ValueRange at) {
  int64_t lanes = loops.isa.lanes;
  Value last = loops
                   .carry(chunk.begin, chunk.end, lanes, loops.splat(0, lanes),
                          [&](Value c, ValueRange carried) {
                            Value l = logitsAt(r, c);
                            return SmallVector<Value>{loops.choose(
                                loops.differs(l, l), l, carried.front())};
                          })
                   .front();
  loops.when(loops.any(loops.differs(last, last)), [&] {
    loops.store(loops.f32(std::numeric_limits<float>::quiet_NaN()), values, at);
  });
}

void heddle::tileLargestLogits(LargestLogitsOp op, TileLoops &loops,
                               bool isFetched) {
  LargestLogitsBuilder(op, loops, isFetched).build();
}
