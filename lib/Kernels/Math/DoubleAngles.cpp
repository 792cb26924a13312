//===- DoubleAngles.cpp - Sines, tangents and their inverses of f64 -------===//
//
// Angles become a number of quarter turns and a rest of at most pi / 4. Up to
// 2^20 that is a difference from a multiple of pi / 2 in three parts; beyond,
// Payne and Hanek's product of the argument's digits with those digits of
// 2 / pi that matter: before them stand whole turns, behind them what f64 does
// not see.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Math/DoubleMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>
#include <limits>

using namespace heddle;
using namespace mlir;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// pi / 2 in three parts: the first two times 2^21 are exact.
static constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34,
                                     0x1.3198a2e037073p-69};
static constexpr double kFewTurns = 0x1p20;

/// 64 zeros, and 2 / pi behind the point.
static constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

namespace {
/// x = quarters pi / 2 + rest, where quarters count modulo 4.
struct Reduced {
  Bits quarters;
  Double rest;
};
/// Of 128 bits.
struct Product {
  Bits low, high;
};
} // namespace

static Product multiply(Bits a, Bits b) {
  auto product =
      arith::MulUIExtendedOp::create(*a.at.builder, a.at.loc, a.value, b.value);
  return {a.of(product.getLow()), a.of(product.getHigh())};
}

/// The words of kTwoOverPi from word `first` on, four of them.
static SmallVector<Bits> wordsFrom(Bits first) {
  // By halves: what cannot be reached any more is dropped.
  SmallVector<Bits> words;
  for (uint64_t word : kTwoOverPi)
    words.push_back(first.of(word));
  for (size_t step : {16, 8, 4, 2, 1}) {
    Value isHere = isZero(first & step);
    SmallVector<Bits> next;
    for (size_t i = 0; i < std::min<size_t>(words.size(), step + 3); ++i)
      next.push_back(i + step < words.size()
                         ? select(isHere, words[i], words[i + step])
                         : words[i]);
    words = std::move(next);
  }
  return words;
}

/// Of x from 2^20 on.
static Reduced reduceManyTurns(Double x) {
  // x = digits 2^exponent. What stands before 2^(1 - exponent) in 2 / pi gives
  // multiples of 4.
  Bits bits(x, x.bits());
  Bits digits = (bits & 0xfffffffffffff) | (uint64_t(1) << 52);
  Bits first = (bits >> 52) - (1075 - 62);
  SmallVector<Bits> words = wordsFrom(first >> 6);
  Bits shift = first & 63;
  auto word = [&](int i) {
    return (words[i] << shift) |
           ((words[i + 1] >> 1) >> (shift.of(uint64_t(63)) - shift));
  };
  // The last 192 bits of the product: two of quarters, then their fraction.
  Product low = multiply(digits, word(2)), middle = multiply(digits, word(1)),
          high = multiply(digits, word(0));
  Bits second = low.high + middle.low;
  Bits carry = select(uless(second, low.high), bits.of(uint64_t(1)),
                      bits.of(uint64_t(0)));
  Bits third = middle.high + high.low + carry;
  // A fraction from one half on counts from the next quarter.
  Bits fraction = (third << 2) | (second >> 62);
  Bits quarters = (third >> 62) + (fraction >> 63);
  Bits rest = (second << 2) | (low.low >> 62);
  // Its sign is none: half of it is positive.
  Double value =
      fma(toDouble(rest >> 1), x.of(0x1p-127), toDouble(fraction) * 0x1p-64);
  return {quarters, select(less(x, kInfinity), value * M_PI_2, x.of(kNaN))};
}

static Reduced reduceFewTurns(Double x) {
  Double n = roundEven(x * M_2_PI);
  Double rest = x;
  for (double part : kHalfPi)
    rest = fma(n, n.of(-part), rest);
  // Their last bits are those of an integer.
  return {Bits(x, (n + 0x1.8p52).bits()), rest};
}

/// Of x >= 0, or NaN.
static Reduced reduce(Double x) {
  OpBuilder &builder = *x.builder;
  auto yield = [](OpBuilder &builder, Location loc, Reduced reduced) {
    scf::YieldOp::create(builder, loc,
                         {reduced.quarters.value, reduced.rest.value});
  };
  auto either = scf::IfOp::create(
      builder, x.loc, less(x, kFewTurns),
      [&](OpBuilder &inner, Location loc) {
        yield(inner, loc, reduceFewTurns(Double(inner, loc, x.value)));
      },
      [&](OpBuilder &inner, Location loc) {
        yield(inner, loc, reduceManyTurns(Double(inner, loc, x.value)));
      });
  return {Bits(x, either.getResult(0)), x.of(either.getResult(1))};
}

/// (-1)^i x^(2 i + first) / (2 i + first)!, without x^first.
static Double alternating(Double square, int first, int count) {
  SmallVector<double> series;
  double factorial = 1;
  for (int i = 0; i < count; ++i) {
    if (i > 0)
      factorial *= -(2 * i + first) * (2 * i + first - 1);
    series.push_back(1 / factorial);
  }
  return polynomial(square, series);
}

static Double shortSine(Double r) {
  Double square = r * r;
  // r and what is behind it: r itself has no rounding.
  return fma(r, alternating(square, 1, 9) - 1, r);
}

static Double shortCosine(Double r) { return alternating(r * r, 0, 10); }

/// sin(x + quarters pi / 2) of an x >= 0.
static Double sineOf(Double x, Bits quarters) {
  Reduced reduced = reduce(x);
  Bits turn = reduced.quarters + quarters;
  Double value = select(isZero(turn & 1), shortSine(reduced.rest),
                        shortCosine(reduced.rest));
  return select(isZero(turn & 2), value, -value);
}

static Bits bitsAt(Double x, uint64_t number) {
  return Bits(x, x.bits()).of(number);
}

Double doubles::sin(Double x) {
  Double sine = sineOf(abs(x), bitsAt(x, 0));
  return select(less(x, 0), -sine, select(equal(x, 0), x, sine));
}

Double doubles::cos(Double x) { return sineOf(abs(x), bitsAt(x, 1)); }

Double doubles::sinOrCos(Double x, Value isSine) {
  return sineOf(x, select(isSine, bitsAt(x, 0), bitsAt(x, 1)));
}

Double doubles::tan(Double x) {
  Reduced reduced = reduce(abs(x));
  Double sine = shortSine(reduced.rest), cosine = shortCosine(reduced.rest);
  Value isEven = isZero(reduced.quarters & 1);
  Double tangent = select(isEven, sine, -cosine) / select(isEven, cosine, sine);
  return select(less(x, 0), -tangent, select(equal(x, 0), x, tangent));
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

/// atan(numerator / denominator) of two that are not negative, and of whose
/// quotients 0 / 0 is 0 and that of infinities is 1.
static Double arcOfQuotient(Double numerator, Double denominator) {
  // A quotient of at most 1 ...
  Value isSteep = less(denominator, numerator);
  Double small = select(isSteep, denominator, numerator);
  Double large = select(isSteep, numerator, denominator);
  Double quotient = small / large;
  quotient = select(equal(large, 0), large, quotient);
  quotient = select(equal(small, kInfinity), small.of(1), quotient);
  // ... or of at most tan(pi / 8), behind which is pi / 4.
  Value isFar = less(M_SQRT2 - 1, quotient);
  Double t = select(isFar, (quotient - 1) / (quotient + 1), quotient);
  SmallVector<double> series;
  for (int i = 3, sign = -1; i < 45; i += 2, sign = -sign)
    series.push_back(double(sign) / i);
  Double square = t * t;
  Double arc = fma(t * square, polynomial(square, series), t);
  arc = select(isFar, arc + M_PI_4, arc);
  return select(isSteep, M_PI_2 - arc, arc);
}

Double doubles::atan(Double x) {
  return copySign(arcOfQuotient(abs(x), x.of(1)), x);
}

Double doubles::atan2(Double y, Double x) {
  Double arc = arcOfQuotient(abs(y), abs(x));
  // A zero may have a sign.
  Value isRight = isZero(Bits(x, x.bits()) >> 63);
  arc = copySign(select(isRight, arc, M_PI - arc), y);
  // Which of two is the smaller one is not known of NaN.
  return select(equal(x, x), select(equal(y, y), arc, y), x);
}

Double doubles::asin(Double x) { return atan2(x, sqrt((1 - x) * (x + 1))); }

Double doubles::acos(Double x) { return atan2(sqrt((1 - x) * (x + 1)), x); }
