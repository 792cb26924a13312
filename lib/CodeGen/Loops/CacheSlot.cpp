//===- CacheSlot.cpp - Pinned slots, then a ring --------------------------===//
//
// The slot of position p is p below `pinned`, and pinned + (p - pinned) mod
// (slots - pinned) otherwise. A select takes one of the two, so each has to be
// defined for every p: the numerator is at least 0 and the divisor at least 1.
// A position stays in the ring until as many positions follow as the ring has
// slots.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/CacheSlot.h"
#include "dialect/Arith.h"

using namespace mlir;
using namespace heddle;

Value heddle::buildCacheSlot(OpBuilder &builder, Location loc, Value position,
                             Value slots, int64_t pinned) {
  Arith math(builder, loc);
  if (pinned == 0)
    return math.urem(position, slots);
  auto behindPinned = [&](Value value, int64_t least) -> Value {
    Value rest = math.sub(value, math.index(pinned));
    return math.max(rest, math.index(least));
  };
  Value lap = math.urem(behindPinned(position, 0), behindPinned(slots, 1));
  Value slot = math.add(lap, math.index(pinned));
  Value isPinned = math.less(position, math.index(pinned));
  return math.select(isPinned, position, slot);
}

Value heddle::staysInCache(OpBuilder &builder, Location loc, Value position,
                           Value length, Value slots, int64_t pinned) {
  Arith math(builder, loc);
  Value first = math.index(pinned);
  Value ring = math.sub(slots, first);
  Value next = math.add(position, ring);
  Value isLatest = math.lessOrEqual(length, next);
  Value isPinned = math.less(position, first);
  Value stays = math.logicalOr(isLatest, isPinned);
  return math.logicalAnd(math.less(position, length), stays);
}
