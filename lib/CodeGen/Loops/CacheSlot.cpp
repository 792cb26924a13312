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
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

Value heddle::buildCacheSlot(OpBuilder &builder, Location loc, Value position,
                             Value slots, int64_t pinned) {
  if (pinned == 0)
    return arith::RemUIOp::create(builder, loc, position, slots);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto behindPinned = [&](Value value, int64_t least) -> Value {
    Value rest = arith::SubIOp::create(builder, loc, value, constant(pinned));
    return arith::MaxSIOp::create(builder, loc, rest, constant(least));
  };
  Value lap = arith::RemUIOp::create(builder, loc, behindPinned(position, 0),
                                     behindPinned(slots, 1));
  Value slot = arith::AddIOp::create(builder, loc, lap, constant(pinned));
  Value isPinned = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, position, constant(pinned));
  return arith::SelectOp::create(builder, loc, isPinned, position, slot);
}

Value heddle::staysInCache(OpBuilder &builder, Location loc, Value position,
                           Value length, Value slots, int64_t pinned) {
  Value first = arith::ConstantIndexOp::create(builder, loc, pinned);
  auto isBelow = [&](Value lhs, Value rhs) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs,
                                 rhs);
  };
  Value ring = arith::SubIOp::create(builder, loc, slots, first);
  Value next = arith::AddIOp::create(builder, loc, position, ring);
  Value isLatest = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sle, length, next);
  Value isPinned = isBelow(position, first);
  Value stays = arith::OrIOp::create(builder, loc, isLatest, isPinned);
  return arith::AndIOp::create(builder, loc, isBelow(position, length), stays);
}
