//===- StateLoops.cpp - Time in order, everything else in parallel --------===//
//
// A recurrence is sequential in time and parallel over sentences and elements;
// its step form updates the state in place. A cache is filled in ascending
// order of positions, since in a ring later positions take the slots of earlier
// ones. last_rows writes zeros for a sentence of length 0.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/StateLoops.h"
#include "lib/CodeGen/Loops/CacheSlot.h"
#include "lib/CodeGen/Loops/ListedRow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

void heddle::buildStateLoops(RecurrenceOp op, Loops &loops) {
  Value result = op.getDestination();
  auto advance = [&](Value previous, ValueRange at) {
    Value gate = loops.sigmoid(loops.load(op.getForget(), at));
    Value kept = loops.mul(gate, previous);
    Value taken =
        loops.mul(loops.sub(loops.f32(1), gate), loops.load(op.getValue(), at));
    Value sum = loops.add(kept, taken);
    loops.store(sum, result, at);
    return sum;
  };
  if (op.getStep())
    return loops.nest(
        result, 2, [&](ValueRange at) { advance(loops.load(result, at), at); });
  Value sizes[] = {loops.size(result, 0), loops.size(result, 2)};
  loops.parallel(sizes, [&](ValueRange at) {
    loops.fold(loops.index(0), loops.size(result, 1), loops.f32(0),
               [&](Value time, Value previous) {
                 return advance(previous, {at[0], time, at[1]});
               });
  });
}

/// cache[caches[row], slot of the position, :] = input[at, :], where `row`, the
/// first of `at`, has cache `row` without a list of them.
template <typename Op>
static void writeToCache(Op op, ValueRange at, Value position, Loops &loops) {
  Value cache = op.getDestination(), row = at.front();
  if (op.getCaches())
    row = loops.toIndex(loops.load(op.getCaches(), row));
  Value slot = buildCacheSlot(loops.builder, loops.loc, position,
                              loops.size(cache, 1), op.getPinned());
  loops.loop(loops.lastSize(op.getInput()), [&](Value d) {
    loops.store(loops.load(op.getInput(), append(at, d)), cache,
                {row, slot, d});
  });
}

void heddle::buildStateLoops(CacheAppendOp op, Loops &loops) {
  loops.nest(op.getInput(), 1, [&](ValueRange row) {
    Value position = loops.toIndex(loops.load(op.getPositions(), row));
    writeToCache(op, row, position, loops);
  });
}

void heddle::buildStateLoops(CacheFillOp op, Loops &loops) {
  loops.nest(op.getInput(), 1, [&](ValueRange sentence) {
    Value length = loops.toIndex(loops.load(op.getLengths(), sentence));
    loops.loop(length, [&](Value position) {
      writeToCache(op, append(sentence, position), position, loops);
    });
  });
}

void heddle::buildStateLoops(LastRowsOp op, Loops &loops) {
  Value input = op.getInput(), one = loops.index(1);
  loops.nest(input, 1, [&](ValueRange at) {
    Value sentence = at[0];
    Value length = loops.load(op.getLengths(), sentence);
    Value last = loops.sub(length, loops.toI32(one));
    ListedRow listed = findListedRow(loops.builder, loops.loc, last, input);
    loops.loop(loops.lastSize(input), [&](Value d) {
      Value x = loops.load(input, {sentence, listed.row, d});
      loops.store(loops.select(listed.isRow, x, loops.f32(0)),
                  op.getDestination(), {sentence, d});
    });
  });
}
