//===- AttentionTasks.cpp - Attention as tasks over heads -----------------===//
//
// As many tasks as are worth one share the units evenly, each a run of
// neighbours. Heads with different masks are groups, which a switch on the head
// selects among.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/AttentionTasks.h"
#include "lib/CodeGen/Machine/TaskCosts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// Operations that a function of math, such as tanh, costs.
static constexpr int64_t kFunctionOperations = 32;

AttentionTasks::AttentionTasks(AttentionOp op, OpBuilder &builder,
                               const IsaLevel &isa)
    : op(op), loops(builder, op.getLoc(), isa), tiles(op, loops) {
  for (HeadGroup &heads : groupHeads(builder, op.getMask(), op.getHeads())) {
    MaskParts parts = splitMask(builder, heads.mask);
    bool isWhole = op.getPositions() || op.isRelative() ||
                   !parts.lists.empty() || !parts.tiled;
    int64_t stride =
        isWhole ? 1 : parts.tiled.getDefiningOp<MaskOpInterface>().stride();
    groups.push_back({heads.heads, parts, stride, remainders});
    remainders += stride;
  }
}

bool AttentionTasks::hasLists() const {
  return llvm::any_of(
      groups, [](const Group &group) { return !group.parts.lists.empty(); });
}
bool AttentionTasks::hasTiles() const {
  return llvm::any_of(
      groups, [](const Group &group) { return group.parts.hasTiles(); });
}

TaskScratch AttentionTasks::blockScratch() {
  const TileSizes &sizes = tiles.getSizes();
  TaskScratch scratch;
  if (hasTiles()) {
    scratch.wide = tiles.blockScratch(sizes.queries);
    if (sizes.queries > sizes.fewQueries)
      scratch.narrow = tiles.blockScratch(sizes.fewQueries);
    if (tiles.usesPairs())
      scratch.wide.pairs = scratch.narrow.pairs = tiles.pairScratch();
    if (tiles.widensKeys())
      scratch.wide.widened = scratch.narrow.widened = tiles.widenedScratch();
    if (tiles.usesTiles())
      tiles.takeColumns();
  }
  if (hasLists())
    scratch.row = tiles.rowScratch();
  tiles.takeShared(hasLists());
  return scratch;
}

/// The head of keys and values that a head of queries reads.
Value AttentionTasks::keyHead(Value head) {
  int64_t group = op.getHeads() / op.getKeyValueHeads();
  return group == 1 ? head : loops.udiv(head, group);
}

/// The same, counted through all sentences.
Value AttentionTasks::headNumber(Value batch, Value head) {
  Value heads = loops.index(op.getKeyValueHeads());
  return loops.add(loops.mul(batch, heads), keyHead(head));
}

void AttentionTasks::setKeyRows(HeadView &view,
                                function_ref<Value(Value, int64_t)> rowsOf) {
  view.keys = rowsOf(op.getKey(), op.getKeyWidth());
  view.values = rowsOf(op.getValue(), op.getValueWidth());
  if (!op.getKeyScales())
    return;
  view.keyScales = rowsOf(op.getKeyScales(), 1);
  view.valueScales = rowsOf(op.getValueScales(), 1);
}

/// Multiply-adds of a pair of a query and a key.
int64_t AttentionTasks::pairWork() {
  return similarityOperations(op, kFunctionOperations) / 2 + op.getValueWidth();
}

/// Splits [0, units) among at most `most` tasks that are worth one.
void AttentionTasks::forEachTask(Value units, Value unitWork, Value most,
                                 function_ref<void()> takeScratch,
                                 function_ref<void(Value)> unit) {
  OpBuilder &builder = loops.builder;
  Value worth = loops.udiv(loops.mul(units, unitWork), kTaskProducts);
  Value tasks = loops.clamp(worth, loops.index(1), most);
  auto loop =
      scf::ForallOp::create(builder, loops.loc, ArrayRef<OpFoldResult>{tasks},
                            /*outputs=*/ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getTerminator());
  Value task = loop.getInductionVar(0);
  takeScratch();
  Value begin = loops.udiv(loops.mul(task, units), tasks);
  Value end = loops.udiv(loops.mul(loops.add(task, 1), units), tasks);
  loops.each(begin, end, 1, unit);
}

/// The code of the group that `head` belongs to.
void AttentionTasks::forGroupOf(Value head,
                                function_ref<void(const Group &)> body) {
  if (groups.size() == 1)
    return body(groups.front());
  // The number of the head's group: one after the other, as heads are few.
  Value number = loops.index(0);
  for (size_t index = 1; index < groups.size(); ++index)
    for (int64_t each : groups[index].heads)
      number = loops.select(loops.equal(head, loops.index(each)),
                            loops.index(index), number);
  loops.choose(number, groups.size(),
               [&](int64_t index) { body(groups[index]); });
}

/// An element of a list, as an index.
Value AttentionTasks::load(Value list, Value at) {
  return loops.toIndex(loops.load(list, at));
}
