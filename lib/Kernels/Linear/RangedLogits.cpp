//===- RangedLogits.cpp - Tiles of logits, range by range -----------------===//
//
// A range passes through its panels a chunk at a time, and within a chunk
// through all rows, so that the chunk's weights are read from memory once and
// then from the L2 cache. All chunks have one size, and one code: the last one
// of the vocabulary starts earlier to be whole, and `begin` says which of its
// columns are new. A panel that the end of the vocabulary cuts has code of its
// own.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/RangedLogits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/artifact/ArtifactFormat.h"
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

RangedLogits::RangedLogits(RangedLogitsOpInterface op, TileLoops &loops,
                           bool isFetched)
    : loops(loops), op(op), isFetched(isFetched),
      panels(int64_t(op.getVocabulary()) / kPanelColumns) {
  chunkPanels = std::clamp<int64_t>(kPanelBytes / panelBytes(op.getWeight()), 1,
                                    kMostColumns / kPanelColumns);
  chunkPanels = std::min(chunkPanels, std::max<int64_t>(panels, 1));
}

/// The product with `panels` panels, into `logits`; `forEachBlock` says of
/// which rows.
LinearBlock RangedLogits::blockOf(Value firstPanel, int64_t panels,
                                  Value logits) {
  Value column = loops.mul(firstPanel, kPanelColumns);
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
void RangedLogits::forEachBlock(LinearBlock block, Chunk chunk,
                                Value firstPanel, Value endPanel) {
  Value count = loops.size(op.getInput(), 0), logits = block.destination;
  loops.each(loops.index(0), count, kRows, [&](Value row) {
    Value rows = loops.min(loops.index(kRows), loops.sub(count, row));
    block.input = loops.rowsOf(op.getInput(), row, rows);
    block.inputScales = loops.rowsOf(op.getInputScales(), row, rows);
    block.lastRows = loops.separateLastRows(block.input);
    block.unpacked = loops.unpackedPanel(block.input, op.getWeight());
    block.destination = loops.rowsOf(logits, loops.index(0), rows);
    loops.tileBlock(block, firstPanel, endPanel);
    chunk.row = row;
    loops.loop(rows, [&](Value r) { takeRow(chunk, r); });
  });
}

/// The panels [begin, end), of which none is cut. The last chunk of the
/// vocabulary starts early enough to have all its panels.
void RangedLogits::wholePanels(Value begin, Value end) {
  loops.each(begin, end, chunkPanels, [&](Value panel) {
    Value first = loops.min(panel, loops.index(panels - chunkPanels));
    Value firstPanel = loops.sub(panel, first);
    Value endPanel = loops.min(loops.sub(end, first), loops.index(chunkPanels));
    Chunk chunk{loops.mul(first, kPanelColumns),
                loops.mul(firstPanel, kPanelColumns),
                loops.mul(endPanel, kPanelColumns)};
    forEachBlock(blockOf(first, chunkPanels, scratch), chunk, firstPanel,
                 endPanel);
  });
}

void RangedLogits::build() {
  OpBuilder &builder = loops.builder;
  auto forall = scf::ForallOp::create(
      builder, loops.loc,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(op.getNumRanges())},
      ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  range = forall.getInductionVar(0);
  buildRange();
}

void RangedLogits::buildRange() {
  scratch = loops.scratch(MemRefType::get({kRows, chunkPanels * kPanelColumns},
                                          loops.builder.getF32Type()));
  loops.loop(loops.size(op.getInput(), 0), [&](Value row) { startRow(row); });
  int64_t count = int64_t(op.getRange()) / kPanelColumns;
  Value begin = loops.mul(range, count);
  if (panels > 0)
    wholePanels(begin, loops.min(loops.add(begin, count), loops.index(panels)));
  if (int64_t(op.getVocabulary()) % kPanelColumns != 0)
    loops.ifThen(loops.equal(range, loops.index(op.getNumRanges() - 1)),
                 [&] { lastPanel(); });
  loops.loop(loops.size(op.getInput(), 0), [&](Value row) { finishRow(row); });
}

/// The panel that is cut: what is missing in it counts as forbidden.
void RangedLogits::lastPanel() {
  int64_t columns = int64_t(op.getVocabulary()) % kPanelColumns;
  Value zero = loops.index(0);
  loops.loop(loops.index(kRows), [&](Value r) {
    loops.each(zero, loops.index(kPanelColumns), loops.isa.lanes, [&](Value c) {
      loops.storeVector(loops.f32(kLowest, loops.isa.lanes), scratch, {r, c});
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

Value RangedLogits::sumsLeaveOutForbidden(Value row) {
  Value ids = op.getForbidden(), count = loops.lastSize(ids);
  auto isMark = [&]() -> SmallVector<Value> {
    Value last = loops.load(ids, {row, loops.add(count, -1)});
    return {loops.equal(last, loops.i32(kSumsOfAllowed))};
  };
  auto no = [&]() -> SmallVector<Value> { return {loops.i1(false)}; };
  return loops.ifYield(loops.less(loops.index(0), count), isMark, no).front();
}

void RangedLogits::forbid(const Chunk &chunk, Value r) {
  Value row = loops.add(chunk.row, r), ids = op.getForbidden();
  Value lowest = loops.f32(kLowest), count = loops.lastSize(ids);
  Value width = loops.index(chunkPanels * kPanelColumns);
  // A negative id ends the list.
  auto isThere = [&](ValueRange f) {
    return loops
        .ifYield(
            loops.less(f.front(), count),
            [&]() -> SmallVector<Value> {
              return {arith::CmpIOp::create(
                  loops.builder, loops.loc, arith::CmpIPredicate::sge,
                  loops.load(ids, {row, f.front()}), loops.i32(0))};
            },
            [&]() -> SmallVector<Value> { return {loops.i1(false)}; })
        .front();
  };
  loops.repeat(
      loops.index(0), isThere, [&](ValueRange f) -> SmallVector<Value> {
        Value id = loops.toIndex(loops.load(ids, {row, f.front()}));
        Value column = loops.sub(id, chunk.first);
        Value isInside =
            loops.logicalAnd(loops.lessOrEqual(loops.index(0), column),
                             loops.less(column, width));
        loops.ifThen(isInside,
                     [&] { loops.store(lowest, scratch, {r, column}); });
        return {loops.add(f.front(), 1)};
      });
}

/// The largest number of a row of a chunk; -inf where there is none.
Value RangedLogits::maximum(const Chunk &chunk, Value r) {
  int64_t lanes = loops.isa.lanes, vectors = kPanelColumns / lanes;
  SmallVector<Value> best(vectors, loops.f32(kLowest, lanes));
  best = loops.carry(chunk.begin, chunk.end, kPanelColumns, best,
                     [&](Value c, ValueRange carried) {
                       SmallVector<Value> next;
                       for (auto [v, each] : llvm::enumerate(carried))
                         next.push_back(loops.selectMax(
                             logitsAt(r, loops.add(c, v * lanes)), each));
                       return next;
                     });
  for (Value each : ArrayRef(best).drop_front())
    best.front() = loops.selectMax(each, best.front());
  return vector::ReductionOp::create(
      loops.builder, loops.loc, vector::CombiningKind::MAXNUMF, best.front(),
      /*acc=*/Value(), arith::FastMathFlags::nnan);
}
