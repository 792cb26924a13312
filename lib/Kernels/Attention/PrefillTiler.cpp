//===- PrefillTiler.cpp - Blocks of prompts, then rows of steps -----------===//
//
// A block of queries counts from position 0 of its sentence, whichever of its
// positions a call brings: the mask is asked for the runs of keys of all of
// them, so that a row's tiles, and its bits, do not depend on how its prompt
// was cut. Keys are read where the cache has them, and those behind the block's
// last position do not exist yet.
//
// The ring of a window is read lap by lap. Keys of a lap are numbered from its
// own first position (`strided` of the online ops, with a stride of 1), and no
// block of queries lies on both sides of a lap's end (withRoomToExtend).
//
// Lists give each query keys of its own: such rows are all computed as steps.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/PrefillTiler.h"

using namespace mlir;
using namespace heddle;

PrefillTiler::Block PrefillTiler::blockAt(Value number) {
  Block block;
  block.row = load(op.getPrefill(), number);
  Value behind = load(op.getPrefill(), loops.add(number, 1));
  block.position = load(op.getPositions(), block.row);
  block.end = loops.add(block.position, loops.sub(behind, block.row));
  block.sentence = load(op.getSentences(), block.row);
  block.cache =
      op.getShared() ? block.sentence : load(op.getCaches(), block.row);
  return block;
}

/// The keys of a ring that queries before position `end` may see: pinned ones,
/// then those of the last two laps. A number for the values of each.
void PrefillTiler::addRing(const HeadView &view, const QueryRows &rows,
                           Value end, Value number,
                           const QueryScratch &scratch) {
  int64_t pinned = op.getPinned();
  auto addLap = [&](Value first, Value slot, Value count, Value columns) {
    HeadView lap = view;
    lap.mapKeyRows(
        [&](Value rows) { return someRows(loops, rows, slot, count); });
    lap.keyEnd = count;
    lap.remainder = first;
    tiles.setColumnsOf(columns);
    tiles.addKeys(lap,
                  {rows.row, loops.sub(rows.position, first),
                   loops.sub(rows.aligned, first)},
                  scratch);
  };
  number = loops.mul(number, 3);
  Value zero = loops.index(0);
  if (pinned > 0)
    addLap(zero, zero, loops.min(end, loops.index(pinned)), number);
  Value slots = loops.add(loops.size(op.getKey(), 1), -pinned);
  slots = loops.max(slots, loops.index(1));
  Value behind = loops.max(loops.add(end, -pinned), zero);
  Value laps = loops.uceilDiv(behind, slots);
  loops.each(loops.max(loops.add(laps, -2), zero), laps, 1, [&](Value lap) {
    Value first = loops.mul(lap, slots);
    Value count = loops.min(slots, loops.sub(behind, first));
    Value parity = loops.add(loops.urem(lap, loops.index(2)), 1);
    addLap(loops.add(first, pinned), loops.index(pinned), count,
           loops.add(number, parity));
  });
}

/// The queries of a view, before position `end`.
void PrefillTiler::queryBlock(const HeadView &view, const QueryRows &rows,
                              Value end, Value number,
                              const QueryScratch &scratch) {
  tiles.init(view, rows.row, scratch);
  if (readsRing(op)) {
    addRing(view, rows, end, number, scratch);
  } else {
    tiles.setColumnsOf(number);
    tiles.addKeys(view, rows, scratch);
  }
  tiles.finish(view, rows.row, scratch);
}

/// The queries of a block, as many as kernels take together.
void PrefillTiler::queries(const Group &group, const Block &block, Value head,
                           const TaskScratch &scratch) {
  HeadView view;
  view.batch = block.sentence;
  view.head = head;
  view.parts = &group.parts;
  Value keysOf = keyHead(head);
  Value queries =
      headRows(loops, op.getQuery(), Value(), head, op.getQueryWidth());
  Value results =
      headRows(loops, op.getDestination(), Value(), head, op.getValueWidth());
  setKeyRows(view, [&](Value memref, int64_t width) {
    return headRows(loops, memref, block.cache, keysOf, width);
  });
  view.keyBegin = loops.index(0);
  view.keyEnd = op.getShared() ? loops.size(op.getKey(), 1) : block.end;
  if (!op.getShared() && !readsRing(op))
    view.mapKeyRows([&](Value rows) {
      return someRows(loops, rows, view.keyBegin, view.keyEnd);
    });
  Value number = headNumber(block.cache, head);

  int64_t size = tiles.getSizes().queries;
  assert(kQueryBlock % size == 0 && "blocks are made of whole ones");
  loops.each(
      loops.floorTo(block.position, size), block.end, size, [&](Value aligned) {
        Value position = loops.max(aligned, block.position);
        Value end = loops.min(loops.add(aligned, size), block.end);
        Value count = loops.sub(end, position);
        Value row = loops.add(block.row, loops.sub(position, block.position));
        view.queries = someRows(loops, queries, row, count);
        view.result = someRows(loops, results, row, count);
        QueryRows rows = {loops.index(0), position, aligned};
        auto build = [&](const QueryScratch &own) {
          queryBlock(view, rows, block.end, number, own);
        };
        if (!scratch.narrow.sums)
          return build(scratch.wide);
        loops.ifElse(
            loops.lessOrEqual(count, loops.index(tiles.getSizes().fewQueries)),
            [&] { build(scratch.narrow); }, [&] { build(scratch.wide); });
      });
}

/// Blocks of one head follow each other, since they share its keys.
void PrefillTiler::tileBlocks(Value count) {
  Value heads = loops.index(op.getHeads());
  Value units = loops.mul(count, heads);
  Value unitWork =
      loops.mul(loops.size(op.getKey(), 1), kQueryBlock * pairWork());
  // Values in columns are made anew in each task.
  Value most = tiles.usesTiles() ? loops.min(heads, units) : units;
  TaskScratch scratch;
  auto takeScratch = [&] { scratch = blockScratch(); };
  forEachTask(units, unitWork, most, takeScratch, [&](Value unit) {
    Value head = loops.udiv(unit, count);
    Block block = blockAt(loops.urem(unit, count));
    forGroupOf(head, [&](const Group &group) {
      queries(group, block, head, scratch);
    });
  });
}

void PrefillTiler::tile() {
  if (hasLists()) {
    tileRows(loops.index(0));
  } else {
    Value count = loops.add(loops.size(op.getPrefill(), 0), -1);
    tileBlocks(count);
    tileRows(load(op.getPrefill(), count));
  }
  op.erase();
}
