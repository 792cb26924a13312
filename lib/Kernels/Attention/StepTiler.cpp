//===- StepTiler.cpp - One query at a time --------------------------------===//
//
// A row of a step has a position of its own, and finds its keys in the memory
// of its sentence, in a cache, or by its history in several caches. Heads of
// queries that share keys take turns with each tile of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/StepTiler.h"

using namespace mlir;
using namespace heddle;

/// The query of one row of a step, which stands at a position of its own.
void StepTiler::queryRow(const Group &group, Value row, Value head,
                         const QueryScratch &scratch) {
  HeadView view;
  view.batch = loops.toIndex(loops.load(op.getSentences(), row));
  view.head = head;
  Value position = loops.toIndex(loops.load(op.getPositions(), row));
  view.keyBegin = loops.index(0);
  view.keyEnd = loops.size(op.getKey(), 1);
  if (!op.getShared()) {
    // A cache holds the latest positions, up to the query's own, behind those
    // that are pinned. The slot of the first position of the older lap is the
    // origin.
    int64_t pinned = view.places.pinned = op.getPinned();
    Value slots = loops.add(view.keyEnd, -pinned);
    view.keyEnd = loops.add(position, 1);
    Value oldest =
        loops.max(loops.index(pinned), loops.sub(view.keyEnd, slots));
    Value ring = loops.max(slots, loops.index(1));
    Value past = loops.urem(loops.add(oldest, -pinned), ring);
    view.places.origin = loops.sub(oldest, past);
    if (pinned == 0)
      view.keyBegin = oldest;
  }
  Value keysOf = keyHead(head);
  if (op.getHistory()) {
    // All caches as one, of which the row's past picks.
    view.places.history = rowView(loops, op.getHistory(), row);
    view.places.cacheRows = loops.size(op.getKey(), 1);
    view.keys = headRowsOfAll(loops, op.getKey(), keysOf, op.getKeyWidth());
    view.values =
        headRowsOfAll(loops, op.getValue(), keysOf, op.getValueWidth());
  } else {
    Value cache = op.getShared() ? view.batch
                  : op.getCaches()
                      ? loops.toIndex(loops.load(op.getCaches(), row))
                      : row;
    view.keys = headRows(loops, op.getKey(), cache, keysOf, op.getKeyWidth());
    view.values =
        headRows(loops, op.getValue(), cache, keysOf, op.getValueWidth());
  }
  view.parts = &group.parts;
  auto headView = [&](Value number) {
    HeadView own = view;
    own.head = loops.add(head, number);
    own.queries =
        headRows(loops, op.getQuery(), Value(), own.head, op.getQueryWidth());
    own.result = headRows(loops, op.getDestination(), Value(), own.head,
                          op.getValueWidth());
    return own;
  };
  tiles.row(headView, mostTogether > 1 ? together : Value(), row, position,
            scratch);
}

/// Heads that share keys are one unit if that leaves all threads about as much:
/// then each tile of keys is read from memory, or from the L3 cache, once.
Value StepTiler::headsOfUnit(Value rows) {
  if (groups.size() == 1 && (!op.getMask() || isOfAllHeads(op.getMask())))
    mostTogether = op.getHeads() / op.getKeyValueHeads();
  Value one = loops.index(1);
  if (mostTogether == 1)
    return one;
  Value units = loops.mul(rows, op.getKeyValueHeads());
  Value threads = ThreadsOp::create(loops.builder, loops.loc);
  constexpr int64_t kEvenUnits = 4;
  Value isEven =
      loops.logicalOr(loops.equal(loops.urem(units, threads), loops.index(0)),
                      loops.lessOrEqual(loops.mul(threads, kEvenUnits), units));
  return loops.select(isEven, loops.index(mostTogether), one);
}

void StepTiler::tileRows(Value first) {
  Value rows = loops.sub(loops.size(op.getQuery(), 0), first);
  together = headsOfUnit(rows);
  Value heads = loops.udiv(loops.index(op.getHeads()), together);
  Value units = loops.mul(rows, heads);
  // A key is read for one query alone: several times the cost of a
  // multiply-add.
  constexpr int64_t kReadCost = 4;
  Value unitWork = loops.mul(loops.mul(loops.size(op.getKey(), 1), together),
                             kReadCost * pairWork());
  QueryScratch scratch;
  auto takeScratch = [&] {
    scratch = tiles.rowScratch(mostTogether);
    tiles.takeShared(hasLists());
  };
  forEachTask(units, unitWork, units, takeScratch, [&](Value unit) {
    Value row = loops.add(first, loops.udiv(unit, heads));
    Value head = loops.mul(loops.urem(unit, heads), together);
    forGroupOf(
        head, [&](const Group &group) { queryRow(group, row, head, scratch); });
  });
}

void StepTiler::tile() {
  tileRows(loops.index(0));
  op.erase();
}
