//===- RankedList.cpp - Insertion into a descending list ------------------===//
//
// An insertion passes over the whole list with selects in place of branches,
// which suits lists of a few elements. Only a strictly larger value moves
// others. So the first of equal values stays in front, and NaN and -inf never
// enter.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/RankedList.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace heddle;

void RankedList::clear(ValueRange at, Loops &loops) const {
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  Value none = loops.i32(-1);
  loops.loop(loops.lastSize(values), [&](Value place) {
    loops.store(lowest, values, append(at, place));
    loops.store(none, ids, append(at, place));
  });
}

Value RankedList::bound(ValueRange at, Loops &loops) const {
  Value last = loops.sub(loops.lastSize(values), loops.index(1));
  return loops.load(values, append(at, last));
}

/// From where the value is larger than what stands there, all move by one
/// place: what is carried is the value, then what stood in front.
void RankedList::insert(Value value, Value id, ValueRange at,
                        Loops &loops) const {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  scf::ForOp::create(
      builder, loc, loops.index(0), loops.lastSize(values), loops.index(1),
      ValueRange{value, id},
      [&](OpBuilder &, Location, Value place, ValueRange carried) {
        SmallVector<Value> here = append(at, place);
        Value oldValue = loops.load(values, here),
              oldId = loops.load(ids, here);
        Value isAbove = loops.greater(value, oldValue);
        loops.store(loops.select(isAbove, carried[0], oldValue), values, here);
        loops.store(loops.select(isAbove, carried[1], oldId), ids, here);
        scf::YieldOp::create(
            builder, loc,
            ValueRange{loops.select(isAbove, oldValue, carried[0]),
                       loops.select(isAbove, oldId, carried[1])});
      });
}
