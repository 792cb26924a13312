//===- DoubleRemainder.cpp - The remainder of two f64 ---------------------===//
//
// Long division of integers: 11 binary digits of the quotient at once, as many
// as fit above the 53 of a remainder. What counts is the remainder alone.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Math/DoubleMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace heddle;
using namespace mlir;

namespace {
/// digits 2^(exponent - 1075), of a number that is not negative.
struct Parts {
  Bits digits, exponent;
};
} // namespace

static Parts split(Double x) {
  Bits bits(x, x.bits());
  Bits exponent = bits >> 52, fraction = bits & 0xfffffffffffff;
  Value isDenormal = isZero(exponent);
  return {select(isDenormal, fraction, fraction | (uint64_t(1) << 52)),
          select(isDenormal, exponent + 1, exponent)};
}

static Bits remainder(Bits a, Bits b) {
  return a.of(arith::RemUIOp::create(*a.at.builder, a.at.loc, a.value, b.value)
                  .getResult());
}

/// digits 2^count modulo divisor.
static Bits divide(Bits digits, Bits count, Bits divisor) {
  constexpr uint64_t kAtOnce = 11;
  Double at = digits.at;
  Type i64 = digits.value.getType();
  auto loop = scf::WhileOp::create(
      *at.builder, at.loc, TypeRange{i64, i64},
      ValueRange{remainder(digits, divisor).value, count.value},
      [&](OpBuilder &inner, Location loc, ValueRange values) {
        Double here(inner, loc, at.value);
        Value isDone = isZero(Bits(here, values[1]));
        scf::ConditionOp::create(inner, loc, logicalNot(here, isDone), values);
      },
      [&](OpBuilder &inner, Location loc, ValueRange values) {
        Double here(inner, loc, at.value);
        Bits rest(here, values[0]), left(here, values[1]);
        Bits most = left.of(kAtOnce);
        Bits step = select(uless(left, most), left, most);
        rest = remainder(rest << step, Bits(here, divisor.value));
        scf::YieldOp::create(inner, loc, {rest.value, (left - step).value});
      });
  return digits.of(loop.getResult(0));
}

Double doubles::fmod(Double x, Double y) {
  Double dividend = abs(x), divisor = abs(y);
  Parts a = split(dividend), b = split(divisor);
  // Dividing needs neither 0 nor a number that is none; nor 2000 digits of an
  // infinite one.
  Value isDefined =
      logicalAnd(x, less(dividend, std::numeric_limits<double>::infinity()),
                 less(0, divisor));
  Value isLong = logicalAnd(x, isDefined, less(divisor, dividend));
  Bits zero = a.digits.of(uint64_t(0)), one = a.digits.of(uint64_t(1));
  Bits count = select(isLong, a.exponent - b.exponent, zero);
  Bits rest = divide(a.digits, count, select(isLong, b.digits, one));
  // Its exponent in two halves, as 2^-1074 is a denormal.
  Bits half = b.exponent >> 1;
  auto power = [&](Bits exponent) {
    return x.fromBits((exponent << 52).value);
  };
  // 2^(e - 1075) = 2^(h - 538) 2^(e - h - 537).
  Double result = toDouble(rest) * power(half + (1023 - 538)) *
                  power(b.exponent - half + (1023 - 537));
  result = select(isLong, result, dividend);
  result = select(equal(dividend, divisor), x.of(0), result);
  result =
      select(isDefined, result, x.of(std::numeric_limits<double>::quiet_NaN()));
  return copySign(result, x);
}
