#include "lib/CodeGen/StateLoops.h"
#include "lib/CodeGen/CacheSlot.h"
#include "lib/CodeGen/ListedRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
    loops.store(loops.add(kept, taken), result, at);
  };
  if (op.getStep())
    return loops.nest(
        result, 2, [&](ValueRange at) { advance(loops.load(result, at), at); });
  loops.nest(result, 3, [&](ValueRange at) {
    Value isFirst =
        arith::CmpIOp::create(loops.builder, loops.loc,
                              arith::CmpIPredicate::eq, at[1], loops.index(0));
    Value before =
        arith::SubIOp::create(loops.builder, loops.loc, at[1], loops.index(1));
    Value start = loops.f32(0);
    Value previous =
        scf::IfOp::create(
            loops.builder, loops.loc, isFirst,
            [&](OpBuilder &, Location) {
              scf::YieldOp::create(loops.builder, loops.loc, start);
            },
            [&](OpBuilder &, Location) {
              scf::YieldOp::create(loops.builder, loops.loc,
                                   loops.load(result, {at[0], before, at[2]}));
            })
            .getResult(0);
    advance(previous, at);
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
  loops.loop(loops.size(op.getInput(), 0), [&](Value row) {
    Value position = loops.toIndex(loops.load(op.getPositions(), row));
    writeToCache(op, row, position, loops);
  });
}

void heddle::buildStateLoops(CacheFillOp op, Loops &loops) {
  loops.loop(loops.size(op.getInput(), 0), [&](Value sentence) {
    Value length = loops.toIndex(loops.load(op.getLengths(), sentence));
    // Later positions take the slots of earlier ones.
    loops.loop(length, [&](Value position) {
      writeToCache(op, {sentence, position}, position, loops);
    });
  });
}

void heddle::buildStateLoops(LastRowsOp op, Loops &loops) {
  Value input = op.getInput(), one = loops.index(1);
  loops.loop(loops.size(input, 0), [&](Value sentence) {
    Value length = loops.load(op.getLengths(), sentence);
    Value last = arith::SubIOp::create(loops.builder, loops.loc, length,
                                       loops.toI32(one));
    ListedRow listed = findListedRow(loops.builder, loops.loc, last, input);
    loops.loop(loops.lastSize(input), [&](Value d) {
      Value x = loops.load(input, {sentence, listed.row, d});
      loops.store(arith::SelectOp::create(loops.builder, loops.loc,
                                          listed.isRow, x, loops.f32(0)),
                  op.getDestination(), {sentence, d});
    });
  });
}
