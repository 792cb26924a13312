//===- StepTiler.cpp - One query at a time --------------------------------===//
//
// A row of a step has a position of its own, and finds its keys in the memory
// of its sentence, in a cache, or by its history in several caches. Heads take
// turns with each tile of keys: those that share keys find them in the caches
// of the processor, and keys of others are neighbours in memory.
//
// A long past of few rows is several parts (Flash-Decoding; Dao et al. 2023).
// Each has sums of its own, and these are merged in order: by the task that has
// computed them all, or, if parts are units of work, by tasks behind them.
//
// Several rows of one sentence, such as guessed tokens, take turns with a part,
// too: its keys and values come from memory once for all of them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/StepTiler.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

//===----------------------------------------------------------------------===//
// Heads of a row
//===----------------------------------------------------------------------===//

/// The first head of a unit.
HeadView StepTiler::viewOf(const Group &group, const Unit &unit,
                           Value position) {
  HeadView view;
  view.batch = loops.toIndex(loops.load(op.getSentences(), unit.row));
  view.head = unit.head;
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
  if (op.getHistory()) {
    // All caches as one, of which the row's past picks.
    view.places.history = rowView(loops, op.getHistory(), unit.row);
    view.places.cacheRows = loops.size(op.getKey(), 1);
  }
  view.parts = &group.parts;
  return view;
}

/// The rows of a head of keys or values, or of their scales, that a row of the
/// step reads.
Value StepTiler::rowsOf(Value memref, const HeadView &view, Value row,
                        int64_t width) {
  Value head = keyHead(view.head);
  if (op.getHistory())
    return headRowsOfAll(loops, memref, head, width);
  Value cache = op.getShared()   ? view.batch
                : op.getCaches() ? load(op.getCaches(), row)
                                 : row;
  return headRows(loops, memref, cache, head, width);
}

/// body() with the heads of a unit, which stand at a position of their row's.
void StepTiler::withHeads(const Group &group, const Unit &unit,
                          function_ref<void(const RowHeads &)> body) {
  Value position = loops.toIndex(loops.load(op.getPositions(), unit.row));
  HeadView first = viewOf(group, unit, position);
  auto headView = [&](Value number) {
    HeadView own = first;
    own.head = loops.add(unit.head, number);
    setKeyRows(own, [&](Value memref, int64_t width) {
      return rowsOf(memref, own, unit.row, width);
    });
    own.queries =
        headRows(loops, op.getQuery(), Value(), own.head, op.getQueryWidth());
    own.result = headRows(loops, op.getDestination(), Value(), own.head,
                          op.getValueWidth());
    return own;
  };
  body({headView, mostTogether > 1 ? together : Value(), unit.row, position});
}

//===----------------------------------------------------------------------===//
// Parts of a past
//===----------------------------------------------------------------------===//

namespace {
/// The parts of what a row sees: how many keys each has, and how many there
/// are.
struct Parts {
  Value keys, count;
};
} // namespace

static Parts partsOf(VectorLoops &loops, Value position) {
  Value end = loops.add(position, 1);
  Value tiles = loops.uceilDiv(end, kPartTile * kMostParts);
  Value keys =
      loops.mul(loops.max(tiles, loops.index(kLeastPartTiles)), kPartTile);
  return {keys, loops.uceilDiv(end, keys)};
}

/// Of the rows from `first` on, if there are few enough to divide pasts;
/// else 1.
Value StepTiler::mostParts(Value first, Value rows) {
  Value isFew = loops.lessOrEqual(rows, loops.index(kDividedRows));
  Value end = loops.select(isFew, loops.add(first, rows), first);
  return loops
      .carry(first, end, 1, loops.index(1),
             [&](Value row, ValueRange most) {
               Value count = partsOf(loops, load(op.getPositions(), row)).count;
               return SmallVector<Value>{loops.max(count, most.front())};
             })
      .front();
}

/// How many of the rows from `first` on, if these are few, read the cache of
/// the row before.
Value StepTiler::sharingRows(Value first, Value rows) {
  if (!op.getCaches() || op.getHistory())
    return loops.index(0);
  Value isFew = loops.lessOrEqual(rows, loops.index(kDividedRows));
  Value end = loops.select(isFew, loops.add(first, rows), first);
  auto cacheOf = [&](Value row) { return load(op.getCaches(), row); };
  return loops
      .carry(loops.add(first, 1), end, 1, loops.index(0),
             [&](Value row, ValueRange before) {
               Value isShared =
                   loops.equal(cacheOf(row), cacheOf(loops.add(row, -1)));
               return SmallVector<Value>{loops.add(
                   before.front(),
                   loops.select(isShared, loops.index(1), loops.index(0)))};
             })
      .front();
}

/// The memory of a part of a head in `parts`: its sums and its state.
Value StepTiler::recordOf(const Unit &unit, Value number) {
  Value row = loops.sub(unit.row, firstRow);
  Value head =
      loops.add(loops.mul(row, op.getHeads()), loops.add(unit.head, number));
  return rowView(loops, records,
                 loops.add(loops.mul(head, kMostParts), unit.part));
}

/// The scratch memory of a head, with sums and a state in a record.
QueryScratch StepTiler::withRecord(QueryScratch own, Value record) {
  int64_t width = op.getValueWidth(), lanes = loops.isa.lanes;
  auto some = [&](int64_t first, int64_t count) {
    OpBuilder &builder = loops.builder;
    auto index = [&](int64_t value) -> OpFoldResult {
      return builder.getIndexAttr(value);
    };
    return memref::SubViewOp::create(builder, loops.loc, record,
                                     ArrayRef{index(first)},
                                     ArrayRef{index(count)}, ArrayRef{index(1)})
        .getResult();
  };
  own.sums = some(0, width);
  own.state = memref::ExpandShapeOp::create(
      loops.builder, loops.loc, ArrayRef<int64_t>{kOnlineStateRows, lanes},
      some(width, kOnlineStateRows * lanes),
      ArrayRef<ReassociationIndices>{{0, 1}});
  return own;
}

/// The part of a unit if it has one of its own; otherwise all, which join the
/// first one.
void StepTiler::addParts(const RowHeads &row, const Unit &unit) {
  HeadView first = row.headView(loops.index(0));
  Parts all = partsOf(loops, row.position);
  Value zero = loops.index(0);
  Value begin = loops.select(isDivided, unit.part, zero);
  Value end = loops.select(
      isDivided, loops.min(loops.add(unit.part, 1), all.count), all.count);
  auto own = [&](Value place) {
    return [&, place](const HeadView &view, Value number) {
      Value head = number ? number : zero;
      Value record = rowView(loops, ownRecords,
                             loops.add(loops.mul(place, mostTogether), head));
      record = loops.select(isDivided, recordOf(unit, head), record);
      return withRecord(tiles.scratchOf(view, number, unit.row, scratch),
                        record);
    };
  };
  loops.each(begin, end, 1, [&](Value part) {
    Value place = loops.min(part, loops.index(1));
    Value from = loops.mul(part, all.keys);
    tiles.addRowKeys(row, loops.max(from, first.keyBegin),
                     loops.min(loops.add(from, all.keys), first.keyEnd),
                     own(place));
    loops.ifThen(loops.less(begin, part), [&] {
      tiles.forEachHead(row, [&](const HeadView &view, Value number) {
        tiles.merge(own(loops.index(1))(view, number), own(zero)(view, number));
      });
    });
  });
  loops.ifThen(loops.equal(parts, loops.index(1)),
               [&] { tiles.finishRow(row, own(zero)); });
}

/// Those of a row that were computed as units of their own.
void StepTiler::mergeParts(const RowHeads &row, const Unit &unit) {
  Parts all = partsOf(loops, row.position);
  auto own = [&](Value part) {
    return [&, part](const HeadView &, Value number) {
      Value record = recordOf({unit.row, unit.head, part},
                              number ? number : loops.index(0));
      QueryScratch ended;
      ended.kind = OnlineKind::Row;
      return withRecord(ended, record);
    };
  };
  Value zero = loops.index(0);
  loops.each(loops.index(1), all.count, 1, [&](Value part) {
    tiles.forEachHead(row, [&](const HeadView &view, Value number) {
      tiles.merge(own(part)(view, number), own(zero)(view, number));
    });
  });
  tiles.finishRow(row, own(zero));
}

//===----------------------------------------------------------------------===//
// Units of work
//===----------------------------------------------------------------------===//

/// The heads of a row are one unit if that leaves all threads about as much: a
/// tile of their keys is one piece of memory then. If it does not, long pasts
/// are divided; the heads of short ones are units by the keys that they share,
/// or each by itself. Long pasts that rows share are divided, too.
void StepTiler::planUnits(Value first, Value rows) {
  firstRow = first;
  Value one = together = parts = loops.index(1);
  isDivided = {};
  int64_t heads = op.getHeads();
  if (groups.size() > 1 || (op.getMask() && !isOfAllHeads(op.getMask())))
    mostTogether = 1;
  else
    mostTogether = heads;
  Value threads = ThreadsOp::create(loops.builder, loops.loc);
  auto areEven = [&](int64_t headsOfUnit) {
    constexpr int64_t kEvenUnits = 4;
    Value units = loops.mul(rows, heads / headsOfUnit);
    return loops.logicalOr(
        loops.equal(loops.urem(units, threads), loops.index(0)),
        loops.lessOrEqual(loops.mul(threads, kEvenUnits), units));
  };
  auto takeTogether = [&](Value isChosen, int64_t headsOfUnit) {
    together = loops.select(isChosen, loops.index(headsOfUnit), together);
  };
  if (mostTogether > 1) {
    int64_t sharing = heads / op.getKeyValueHeads();
    takeTogether(areEven(sharing), sharing);
  }
  Value isWhole = areEven(mostTogether);
  if (hasParts()) {
    Value isAlone = loops.logicalAnd(
        isWhole, loops.equal(sharingRows(first, rows), loops.index(0)));
    parts = loops.select(isAlone, one, mostParts(first, rows));
    isDivided = loops.less(one, parts);
    isWhole = loops.logicalOr(isWhole, isDivided);
    records = memref::CollapseShapeOp::create(
        loops.builder, loops.loc, op.getParts(),
        ArrayRef<ReassociationIndices>{{0, 1, 2}, {3}});
  }
  takeTogether(isWhole, mostTogether);
}

void StepTiler::tileRows(Value first) {
  Value rows = loops.sub(loops.size(op.getQuery(), 0), first);
  planUnits(first, rows);
  Value heads = loops.udiv(loops.index(op.getHeads()), together);
  Value ofRows = loops.mul(rows, heads), units = loops.mul(ofRows, parts);
  // A key is read for one query alone: several times the cost of a
  // multiply-add.
  constexpr int64_t kReadCost = 4;
  Value rowWork = loops.mul(loops.mul(loops.size(op.getKey(), 1), together),
                            kReadCost * pairWork());
  auto takeScratch = [&] {
    scratch = tiles.rowScratch(mostTogether);
    tiles.takeShared(hasLists());
    if (hasParts())
      ownRecords = tiles.records(2 * mostTogether);
  };
  auto build = [&](Value number, Value part,
                   function_ref<void(const RowHeads &, const Unit &)> body) {
    Unit unit = {loops.add(first, loops.udiv(number, heads)),
                 loops.mul(loops.urem(number, heads), together), part};
    forGroupOf(unit.head, [&](const Group &group) {
      withHeads(group, unit, [&](const RowHeads &row) { body(row, unit); });
    });
  };
  forEachTask(units, loops.udiv(rowWork, parts), units, takeScratch,
              [&](Value unit) {
                // Rows that share a cache follow each other with each part.
                build(loops.urem(unit, ofRows), loops.udiv(unit, ofRows),
                      [&](const RowHeads &row, const Unit &unit) {
                        if (hasParts())
                          addParts(row, unit);
                        else
                          tiles.row(row, scratch);
                      });
              });
  if (!hasParts())
    return;
  Value merged = loops.select(isDivided, ofRows, loops.index(0));
  forEachTask(
      merged, loops.mul(parts, mostTogether * op.getValueWidth()), merged,
      [] {},
      [&](Value unit) {
        build(unit, Value(), [&](const RowHeads &row, const Unit &unit) {
          mergeParts(row, unit);
        });
      });
}

void StepTiler::tile() {
  tileRows(loops.index(0));
  op.erase();
}
