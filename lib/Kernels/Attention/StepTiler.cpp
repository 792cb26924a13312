//===- StepTiler.cpp - One query at a time --------------------------------===//
//
// A row of a step has a position of its own, and finds its keys in the memory
// of its sentence, in a cache, or by its history in several caches.
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
  view.queries =
      headRows(loops, op.getQuery(), Value(), head, op.getQueryWidth());
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
  view.result =
      headRows(loops, op.getDestination(), Value(), head, op.getValueWidth());
  view.parts = &group.parts;
  tiles.row(view, row, position, scratch);
}

void StepTiler::tileRows(Value first) {
  Value heads = loops.index(op.getHeads());
  Value rows = loops.sub(loops.size(op.getQuery(), 0), first);
  Value units = loops.mul(rows, heads);
  // A key is read for one query alone: several times the cost of a
  // multiply-add.
  constexpr int64_t kReadCost = 4;
  Value unitWork =
      loops.mul(loops.size(op.getKey(), 1), kReadCost * pairWork());
  QueryScratch scratch;
  auto takeScratch = [&] {
    scratch = tiles.rowScratch();
    tiles.takeShared(hasLists());
  };
  forEachTask(units, unitWork, units, takeScratch, [&](Value unit) {
    Value row = loops.add(first, loops.udiv(unit, heads));
    Value head = loops.urem(unit, heads);
    forGroupOf(
        head, [&](const Group &group) { queryRow(group, row, head, scratch); });
  });
}

void StepTiler::tile() {
  tileRows(loops.index(0));
  op.erase();
}
