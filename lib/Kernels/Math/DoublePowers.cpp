//===- DoublePowers.cpp - Powers and logarithms of f64 --------------------===//
//
// All go back to e^r with |r| <= log(2) / 2 and to the logarithm of a number
// between sqrt(1/2) and sqrt(2): Taylor series, as far as f64 can tell. Where
// results are small, so are the series: nothing cancels.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Math/DoubleMath.h"
#include <cmath>
#include <limits>

using namespace heddle;
using mlir::Value;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// log(2) in two parts: the first times an exponent is exact.
static constexpr double kLn2High = 0x1.62e42feep-1,
                        kLn2Low = 0x1.a39ef35793c76p-33;

/// 2^n of an integer n in [-1022, 1023], put together from its bits.
static Double powerOfTwo(Double n) {
  // Adding this leaves an integer, and the bias of exponents, in the last bits.
  Double shifted = n + (0x1.8p52 + 1023);
  return n.fromBits((Bits(n, shifted.bits()) << 52).value);
}

/// x 2^n of an integer n in [-2044, 2046].
static Double scaled(Double x, Double n) {
  Double half = floor(n * 0.5);
  return x * powerOfTwo(half) * powerOfTwo(n - half);
}

/// e^r - 1, |r| <= log(2) / 2.
static Double shortExpm1(Double r) {
  // 1 / i! from i = 2 on.
  llvm::SmallVector<double> series;
  double factorial = 1;
  for (int i = 2; i < 15; ++i) {
    factorial *= i;
    series.push_back(1 / factorial);
  }
  return fma(r * r, polynomial(r, series), r);
}

/// n and r of x = n log(2) + r.
static std::pair<Double, Double> splitByLn2(Double x) {
  Double n = roundEven(x * M_LOG2E);
  Double r = fma(n, n.of(-kLn2High), x);
  return {n, fma(n, n.of(-kLn2Low), r)};
}

Double doubles::exp(Double x) {
  // Where results are 0 and infinite.
  auto [n, r] = splitByLn2(clamp(x, -746, 710));
  return scaled(shortExpm1(r) + 1, n);
}

Double doubles::exp2(Double x) {
  x = clamp(x, -1076, 1025);
  Double n = roundEven(x);
  return scaled(shortExpm1((x - n) * M_LN2) + 1, n);
}

/// Beside what is larger, 1 does not count.
static constexpr double kOneIsNothing = 40;

Double doubles::expm1(Double x) {
  auto [n, r] = splitByLn2(clamp(x, -kOneIsNothing, kOneIsNothing));
  Double scale = powerOfTwo(n);
  Double result = fma(scale, shortExpm1(r), scale - 1);
  return select(less(kOneIsNothing, x), exp(x), result);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// log x = exponent log(2) + rest, where x is positive and finite.
struct Logarithm {
  Double exponent, rest;
};
} // namespace

/// `distance` is x - 1, better than that of x itself.
static Logarithm splitLogarithm(Double x, Double distance) {
  Value isDenormal = less(x, 0x1p-1022);
  Bits bits(x, select(isDenormal, x * 0x1p54, x).bits());
  // Of numbers from sqrt(1/2) on the exponent is 0.
  Bits steps = shiftSigned(bits - 0x3fe6a09e667f3bcd, 52);
  Double mantissa = x.fromBits((bits - (steps << 52)).value);
  Double f = select(isZero(steps), distance, mantissa - 1);
  // 2 artanh(f / (2 + f)).
  Double s = f / (f + 2);
  llvm::SmallVector<double> series;
  for (int i = 3; i < 27; i += 2)
    series.push_back(2.0 / i);
  Double square = s * s;
  // 2 s = f - s f, where f has no rounding.
  Double rest = f - s * (f - square * polynomial(square, series));
  Double exponent = toDouble(steps);
  return {select(isDenormal, exponent - 54, exponent), rest};
}

/// What a logarithm is where x is not positive and finite.
static Double atTheEnds(Double x, Double logarithm) {
  logarithm = select(equal(x, kInfinity), x, logarithm);
  Double otherwise = select(equal(x, 0), x.of(-kInfinity), x.of(kNaN));
  return select(less(0, x), logarithm, otherwise);
}

static Double naturalLogarithm(Double x, Double distance) {
  auto [exponent, rest] = splitLogarithm(x, distance);
  Double low = fma(exponent, exponent.of(kLn2Low), rest);
  return atTheEnds(x, fma(exponent, exponent.of(kLn2High), low));
}

Double doubles::log(Double x) { return naturalLogarithm(x, x - 1); }

Double doubles::log1p(Double x) {
  // A zero keeps its sign.
  return select(equal(x, 0), x, naturalLogarithm(x + 1, x));
}

Double doubles::log2(Double x) {
  auto [exponent, rest] = splitLogarithm(x, x - 1);
  return atTheEnds(x, fma(rest, rest.of(M_LOG2E), exponent));
}

Double doubles::log10(Double x) {
  // log10(2) in two parts.
  constexpr double high = 0x1.34413509p-2, low = 0x1.ef3fde623e256p-35;
  auto [exponent, rest] = splitLogarithm(x, x - 1);
  Double sum = fma(exponent, exponent.of(low), rest * M_LOG10E);
  return atTheEnds(x, fma(exponent, exponent.of(high), sum));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// 2^(y log2 |x|), where the product and its factor are sums of two.
static Double powerOfMagnitude(Double x, Double y) {
  Double size = abs(x);
  auto [exponent, rest] = splitLogarithm(size, size - 1);
  Double part = rest * M_LOG2E;
  Double partError = fma(rest, rest.of(M_LOG2E), -part);
  // What M_LOG2E itself lacks.
  partError = fma(rest, rest.of(0x1.777d0ffda0d24p-56), partError);
  Double sum = exponent + part;
  Double sumError = part - (sum - exponent) + partError;
  Double product = y * sum;
  Double error = fma(y, sumError, fma(y, sum, -product)) * M_LN2;
  Double power = doubles::exp2(product);
  // Where the power is 0 or infinite, the error may be no number.
  Value isShort =
      logicalAnd(x, less(abs(product), 1080), less(power, kInfinity));
  return select(isShort, fma(power, error, power), power);
}

Double doubles::pow(Double x, Double y) {
  Double size = abs(x);
  Double power = powerOfMagnitude(x, y);
  // Zeros and infinities have logarithms that y times is right, but for y = 0.
  Double beyond = exp2(y * atTheEnds(size, size));
  Value isOrdinary = logicalAnd(x, less(0, size), less(size, kInfinity));
  Double result = select(isOrdinary, power, beyond);
  // Odd integers keep the sign.
  Double half = y * 0.5;
  Value isInteger = equal(y, trunc(y));
  Value isOdd = logicalAnd(
      y, logicalAnd(y, isInteger, logicalNot(y, equal(half, trunc(half)))),
      less(abs(y), kInfinity));
  result = select(isOdd, copySign(result, x), result);
  Value isNegative = logicalAnd(x, less(x, 0), less(-kInfinity, x));
  result = select(logicalAnd(x, isNegative, logicalNot(x, isInteger)),
                  x.of(kNaN), result);
  // 1^y is 1, (-1)^inf, and x^0, even of NaN.
  result = select(equal(x, 1), x.of(1), result);
  Value isUnit = logicalAnd(x, equal(size, 1), equal(abs(y), kInfinity));
  result = select(isUnit, x.of(1), result);
  return select(equal(y, 0), x.of(1), result);
}

Double doubles::cbrt(Double x) {
  Double size = abs(x);
  auto [exponent, rest] = splitLogarithm(size, size - 1);
  // Of a number near 1, which has no neighbours that are denormals.
  Double third = roundEven(exponent / 3);
  Double near = scaled(size, third * -3);
  Double logarithm = fma(rest, rest.of(M_LOG2E), exponent - third * 3);
  Double root = exp2(logarithm / 3);
  // A step of Newton's.
  Double square = root * root;
  root = root - fma(square, root, -near) / (square * 3);
  Value isOrdinary = logicalAnd(x, less(0, size), less(size, kInfinity));
  return select(isOrdinary, copySign(scaled(root, third), x), x);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

Double doubles::sinh(Double x) {
  Double size = abs(x);
  Double e = expm1(clamp(size, 0, kOneIsNothing)), half = exp(size * 0.5);
  Double near = (e + e / (e + 1)) * 0.5, far = half * 0.5 * half;
  return copySign(select(less(kOneIsNothing, size), far, near), x);
}

Double doubles::cosh(Double x) {
  Double size = abs(x);
  Double e = exp(clamp(size, 0, kOneIsNothing)), half = exp(size * 0.5);
  Double near = e * 0.5 + 0.5 / e, far = half * 0.5 * half;
  return select(less(kOneIsNothing, size), far, near);
}

Double doubles::tanh(Double x) {
  Double e = expm1(clamp(abs(x), 0, 20) * 2);
  return copySign(e / (e + 2), x);
}

/// Beside its square, 1 does not count.
static constexpr double kLarge = 0x1p28;

Double doubles::asinh(Double x) {
  Double size = abs(x), square = size * size;
  Double near = log1p(size + square / (sqrt(square + 1) + 1));
  Double far = log(size) + M_LN2;
  return copySign(select(less(kLarge, size), far, near), x);
}

Double doubles::acosh(Double x) {
  Double above = x - 1;
  Double near = log1p(above + sqrt(above * (above + 2)));
  Double result = select(less(kLarge, x), log(x) + M_LN2, near);
  return select(less(x, 1), x.of(kNaN), result);
}

Double doubles::atanh(Double x) {
  Double size = abs(x);
  return copySign(log1p(size * 2 / (1 - size)) * 0.5, x);
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

/// erfc(x) e^(x^2) (1 + 2 x) as a polynomial in (x - 3.5) / (x + 3.5), for x
/// from 1 to 28: interpolated at Chebyshev's points, 2.3e-17.
static constexpr double kErfc[] = {
    0x1.3e0a99a0ee914p+0,   -0x1.1ebd220ea5937p-3,  -0x1.59e2c284b1f93p-7,
    0x1.8f702ec6b2ea4p-4,   -0x1.d76830c34aed0p-4,  0x1.686106047a02dp-4,
    -0x1.8ff5ef78be133p-5,  0x1.38ec666e9bb43p-6,   -0x1.143c4bbbfc90cp-8,
    -0x1.3cf367504c95ep-12, 0x1.27e624d321dc8p-11,  -0x1.fda88fd58b022p-14,
    -0x1.66cd6977a640fp-15, 0x1.96f1aea21d48fp-16,  0x1.348d443a644e8p-19,
    -0x1.fcb536bfc0c38p-19, 0x1.327b93ef0c340p-28,  0x1.2547863e0da9dp-21,
    -0x1.64198ad1cb1c4p-25, -0x1.63fb7c664d244p-25,
};

/// erf(x) for |x| < 1, by its Taylor series.
static Double nearErf(Double x) {
  llvm::SmallVector<double> series;
  double factorial = 1;
  for (int i = 0; i < 19; ++i) {
    if (i > 0)
      factorial *= -i;
    series.push_back(M_2_SQRTPI / (factorial * (2 * i + 1)));
  }
  return x * polynomial(x * x, series);
}

/// erfc(x) for x >= 1; 0 from 28 on.
static Double farErfc(Double x) {
  x = clamp(x, 1, 28);
  Double square = x * x;
  Double error = fma(x, x, -square);
  Double power = doubles::exp(-square);
  power = fma(power, -error, power);
  Double t = (x - 3.5) / (x + 3.5);
  return power * polynomial(t, kErfc) / fma(x, x.of(2), x.of(1));
}

Double doubles::erf(Double x) {
  Double size = abs(x);
  Double far = copySign(1 - farErfc(size), x);
  return select(less(size, 1), nearErf(x), far);
}

Double doubles::erfc(Double x) {
  Double size = abs(x), far = farErfc(size);
  Double result = select(less(x, 0), 2 - far, far);
  return select(less(size, 1), 1 - nearErf(x), result);
}
