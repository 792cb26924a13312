//===- OnlineState.cpp - How exponents follow the maximum -----------------===//
//
// This is online softmax (Milakov and Gimelshein 2018, arXiv:1805.02867), with
// a reference point that lags: it moves only if a score passes the threshold,
// so that sums are seldom rescaled. A move multiplies the sums so far by 2 to
// the distance between the two points. If shifts are whole numbers, that is a
// power of two and exact. Each lane is a query with its own point, and selects
// leave the lanes that do not move as they are.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/OnlineState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

/// Probabilities stay below 2^9: far from infinity, and few scores move the
/// maximum.
static constexpr double kMaximumLag = 8;

/// Shifts below this are rounded to halves at most, which probabilities hardly
/// show.
static constexpr double kLargestShift = 0x1p23;

ReferencePoint ReferencePoint::load(VectorLoops &loops, Value state,
                                    Value column) {
  auto row = [&](StateRow row) {
    return loops.loadVector(state, {loops.index(row), column}, loops.isa.lanes);
  };
  return {row(kOffset), row(kNegatedShift), row(kThreshold)};
}

void ReferencePoint::store(VectorLoops &loops, Value state,
                           Value column) const {
  loops.storeVector(offset, state, {loops.index(kOffset), column});
  loops.storeVector(negatedShift, state, {loops.index(kNegatedShift), column});
  loops.storeVector(threshold, state, {loops.index(kThreshold), column});
}

Value heddle::exponent(VectorLoops &loops, Value score, double factor,
                       const ReferencePoint &point) {
  return loops.fma(loops.sub(score, point.offset),
                   loops.f32(factor, loops.isa.lanes), point.negatedShift);
}

/// Whether a query has seen a key.
static Value hasGathered(VectorLoops &loops, const ReferencePoint &point) {
  auto number = [&](double value) { return loops.f32(value, loops.isa.lanes); };
  return loops.logicalOr(loops.notEqual(point.offset, number(0)),
                         loops.notEqual(point.threshold, number(-INFINITY)));
}

/// How much more the exponents of scores are that count from `to`.
static Value distanceBetween(VectorLoops &loops, double factor,
                             const ReferencePoint &from,
                             const ReferencePoint &to) {
  return loops.fma(loops.sub(from.offset, to.offset),
                   loops.f32(factor, loops.isa.lanes),
                   loops.sub(to.negatedShift, from.negatedShift));
}

PointMove heddle::followMaximum(VectorLoops &loops, const VectorMath &math,
                                Value largest, const ExponentRule &rule,
                                const ReferencePoint &from) {
  int64_t lanes = loops.isa.lanes;
  double factor = rule.factor;
  auto number = [&](double value) { return loops.f32(value, lanes); };
  Value zero = number(0), lowest = number(-INFINITY);
  Value wasFar = loops.notEqual(from.offset, zero);
  Value moves =
      loops.greater(largest, loops.select(wasFar, from.offset, from.threshold));

  Value negatedShift = loops.mul(largest, number(-factor));
  if (rule.hasWholeShifts)
    negatedShift =
        math::RoundEvenOp::create(loops.builder, loops.loc, negatedShift);
  Value isFar = arith::CmpFOp::create(
      loops.builder, loops.loc, arith::CmpFPredicate::OGE,
      math::AbsFOp::create(loops.builder, loops.loc, negatedShift),
      number(kLargestShift));
  auto moved = [&](Value far, Value near, Value before) {
    return loops.select(moves, loops.select(isFar, far, near), before);
  };
  ReferencePoint to = {moved(largest, zero, from.offset),
                       moved(zero, negatedShift, from.negatedShift),
                       moved(lowest,
                             loops.add(largest, number(kMaximumLag / factor)),
                             from.threshold)};

  Value shrinks = loops.logicalAnd(moves, hasGathered(loops, from));
  Value distance = distanceBetween(loops, factor, from, to);
  return {to, shrinks, loops.select(shrinks, math.exp2(distance), number(1))};
}

PointMeeting heddle::meet(VectorLoops &loops, const VectorMath &math,
                          double factor, const ReferencePoint &first,
                          const ReferencePoint &second) {
  Value one = loops.f32(1, loops.isa.lanes);
  Value hasFirst = hasGathered(loops, first),
        hasSecond = hasGathered(loops, second);
  Value toSecond = distanceBetween(loops, factor, first, second),
        toFirst = distanceBetween(loops, factor, second, first);
  Value isLarger = loops.less(toSecond, loops.f32(0, loops.isa.lanes));
  Value isSecond =
      loops.logicalAnd(hasSecond, loops.select(hasFirst, isLarger, hasSecond));
  auto larger = [&](Value ofFirst, Value ofSecond) {
    return loops.select(isSecond, ofSecond, ofFirst);
  };
  auto shrinkage = [&](Value hasGathered, Value distance) {
    return loops.select(hasGathered, math.exp2(distance), one);
  };
  return {{larger(first.offset, second.offset),
           larger(first.negatedShift, second.negatedShift),
           larger(first.threshold, second.threshold)},
          larger(one, shrinkage(hasFirst, toSecond)),
          larger(shrinkage(hasSecond, toFirst), one)};
}

Value heddle::outsideMask(VectorLoops &loops, int64_t width) {
  return loops.f32(-0.0, width);
}

Value heddle::insideMask(VectorLoops &loops, Value probabilities) {
  unsigned width =
      cast<VectorType>(probabilities.getType()).getElementTypeBitWidth();
  // As numbers both zeros are equal.
  Value bits =
      loops.bitcast(probabilities, loops.builder.getIntegerType(width));
  Value mark = arith::ConstantOp::create(
      loops.builder, loops.loc,
      DenseElementsAttr::get(cast<VectorType>(bits.getType()),
                             APInt::getSignMask(width)));
  return loops.notEqual(bits, mark);
}

std::pair<Value, Value> heddle::fullPart(VectorLoops &loops, Value begin,
                                         Value end, Value fullBegin,
                                         Value fullEnd) {
  Value from = loops.clamp(fullBegin, begin, end);
  return {from, loops.clamp(fullEnd, from, end)};
}

static bool isMultiplied(Normalizer normalizer) {
  return normalizer == Normalizer::Softmax || normalizer == Normalizer::None;
}

Value heddle::prepareTotal(VectorLoops &loops, Value total,
                           Normalizer normalizer) {
  int64_t width = cast<VectorType>(total.getType()).getNumElements();
  Value zero = loops.f32(0, width), one = loops.f32(1, width);
  switch (normalizer) {
  case Normalizer::None:
    return one;
  case Normalizer::Softmax:
    return loops.select(loops.notEqual(total, zero), loops.div(one, total),
                        zero);
  case Normalizer::Sum:
  case Normalizer::Region:
    return total;
  }
  llvm_unreachable("all normalizers are listed");
}

Value heddle::divideByTotal(VectorLoops &loops, Value sum, Value prepared,
                            Normalizer normalizer) {
  int64_t width = cast<VectorType>(sum.getType()).getNumElements();
  Value zero = loops.f32(0, width);
  // Adding 0 makes one zero of both.
  if (isMultiplied(normalizer))
    return loops.fma(sum, prepared, zero);
  Value quotient = loops.add(loops.div(sum, prepared), zero);
  return loops.select(loops.notEqual(prepared, zero), quotient, zero);
}
