//===- VectorMath.cpp - Elementary functions on vectors -------------------===//
//
// Coefficients of polynomials come from fit_polynomials.py: minimax in the
// relative error of the function, each rounded to f32 before the next is
// fitted. The numbers behind them are the errors that are left.
//
// Clamping is written as a comparison and a selection, which is what the
// instructions compute: NaN on the right passes through both.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Math/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// 2^x on [0, 1): 8.3e-8.
static constexpr double kExp2[] = {
    1.0,
    0.6931512951850891,
    0.2401645928621292,
    0.055799514055252075,
    0.009017480537295341,
    0.0018669526325538754,
};

/// e^x on [0, ln 2): 3e-9.
static constexpr double kExp[] = {
    1.0,
    1.0,
    0.5000022649765015,
    0.16663210093975067,
    0.0418543703854084,
    0.00786927342414856,
    0.0019120648503303528,
};

/// ln 2 in two parts: the first has so few digits that its product with an
/// exponent is exact.
static constexpr double kLn2High = 0x1.62ep-1, kLn2Low = 0x1.0bfbe8p-15;

/// (e^2r - 1) / 2 as r + r^2 times a polynomial, for |r| <= ln 2 / 4: 1.5e-8.
static constexpr double kHalfPower[] = {
    1.0,
    0.666661262512207,
    0.33332929015159607,
    0.1338888704776764,
    0.04471949115395546,
};
/// From here on tanh is 1.
static constexpr double kTanhOne = 9.1;

/// erf(x) / x - 1 as a polynomial in x^2, for |x| < 0.92, and -log2(1 - erf(x))
/// as one in x up to 4, where erf(x) is 1.
static constexpr double kErfLimit = 0.92, kErfOne = 4.0;
/// The first within 1.6e-8 of erf, the second within 2.5e-8.
static constexpr double kErf[] = {
    0.12837915122509003,   -0.3761250078678131,  0.11281877011060715,
    -0.026768580079078674, 0.004995853174477816, -0.0006003794260323048,
};
static constexpr double kErfc[] = {
    0.0028361815493553877, 1.6156494617462158,    0.9394468665122986,
    0.13104033470153809,   -0.022345446050167084, 0.0017891627503558993,
};

/// sin(x) / x - 1 and cos(x) - 1 as x^2 times a polynomial in x^2: Taylor's,
/// whose next terms are below 8e-12 and 5e-13 on [-pi / 4, pi / 4].
static constexpr double kSin[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040,
                                  1.0 / 362880, -1.0 / 39916800};
static constexpr double kCos[] = {-1.0 / 2,    1.0 / 24,       -1.0 / 720,
                                  1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600};
/// pi / 2 in two parts.
static constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0,
                        kHalfPiLow = 0x1.1a62633145c07p-54;

static int64_t lanesOf(Value x) {
  auto vector = dyn_cast<VectorType>(x.getType());
  return vector ? vector.getNumElements() : 1;
}

/// `type` with elements of another type.
static Type withElements(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

Value VectorMath::polynomial(Value x, ArrayRef<double> coefficients) const {
  Value sum = constant(coefficients.back(), x);
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(x, sum, constant(coefficient, x));
  return sum;
}

Value VectorMath::clamp(Value x, double lowest, double highest) const {
  Value low = constant(lowest, x);
  x = select(greater(low, x), low, x);
  Value high = constant(highest, x);
  x = select(less(high, x), high, x);
  return x;
}

static constexpr int64_t kFewestLanes = 4;

/// An unmasked masked intrinsic of AVX-512 with the type of `first`.
Value VectorMath::x86(StringRef name, Value first, Value second,
                      Value passThrough) const {
  int64_t lanes = lanesOf(first);
  auto integer = [&](int64_t value, unsigned width) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, width);
  };
  SmallVector<Value> operands = {first, second, passThrough,
                                 integer(-1, lanes == 16 ? 16 : 8)};
  // Only the longest form names a rounding: that of MXCSR.
  if (lanes == 16)
    operands.push_back(integer(4, 32));
  std::string intrinsic =
      ("llvm.x86.avx512.mask." + name + ".ps." + Twine(32 * lanes)).str();
  return LLVM::CallIntrinsicOp::create(builder, loc, first.getType(),
                                       builder.getStringAttr(intrinsic),
                                       operands)
      .getResult(0);
}

Value VectorMath::floorOf(Value x) const {
  return math::FloorOp::create(builder, loc, x);
}

/// Adding this leaves an integer, and the bias of exponents, in the last bits.
static constexpr double kToLastBits = 0x1.8p23 + 127;

/// 2^n of n + kToLastBits, for an integer n in [-127, 128]: at its ends 0 and
/// inf. From the last bits it moves to those of the exponent.
Value VectorMath::powerOfTwo(Value shifted) const {
  return bitcastToF32(shiftLeft(bitcastToI32(shifted), 23));
}

/// x times 2^power, for an integral power in [-127, 128]: at its ends 2^power
/// is 0 and inf.
Value VectorMath::scaleByPower(Value x, Value power) const {
  if (hasReduceAndScale && lanesOf(x) >= kFewestLanes)
    return x86("scalef", x, power, x);
  Value shifted = add(power, constant(kToLastBits, power));
  return mul(x, powerOfTwo(shifted));
}

Value VectorMath::exp2(Value x) const {
  // vreduceps rounds the fraction down where it has too many digits: so that
  // the number of lanes changes no bit, it computes short vectors, too.
  if (hasReduceAndScale && lanesOf(x) < kFewestLanes) {
    Type type = VectorType::get(kFewestLanes, builder.getF32Type());
    if (!llvm::isa<VectorType>(x.getType())) {
      Value wide = vector::BroadcastOp::create(builder, loc, type, x);
      return vector::ExtractOp::create(builder, loc, exp2(wide), 0);
    }
    Value wide = vector::ShuffleOp::create(builder, loc, x, x,
                                           lanesOf(x) == 2
                                               ? ArrayRef<int64_t>{0, 1, 0, 1}
                                               : ArrayRef<int64_t>{0, 0, 0, 0});
    return vector::ExtractStridedSliceOp::create(builder, loc, exp2(wide), 0,
                                                 lanesOf(x), 1);
  }
  if (hasReduceAndScale) {
    // 9: subtract the floor, quietly. scalef takes the floor of x by itself.
    Value toFloor = i32(9);
    Value fraction = x86("reduce", x, toFloor, x);
    return x86("scalef", polynomial(fraction, kExp2), x, x);
  }
  x = clamp(x, -127, 128);
  Value whole = floorOf(x);
  Value fraction = sub(x, whole);
  return scaleByPower(polynomial(fraction, kExp2), whole);
}

Value VectorMath::exp(Value x) const {
  // Where 2^whole is 0 and inf.
  x = clamp(x, -87.9, 88.8);
  Value whole = floorOf(mul(x, constant(M_LOG2E, x)));
  Value rest =
      fma(whole, constant(-kLn2Low, x), fma(whole, constant(-kLn2High, x), x));
  return scaleByPower(polynomial(rest, kExp), whole);
}

Value VectorMath::sigmoid(Value x) const {
  Value one = constant(1, x);
  Value power = exp(arith::NegFOp::create(builder, loc, x));
  return div(one, add(one, power));
}

Value VectorMath::tanh(Value x) const {
  // a / (a + 1) with a = (e^2x - 1) / 2, without a difference of neighbours:
  // 2^n (e^2r - 1) / 2 + (2^n - 1) / 2, where x = n ln 2 / 2 + r. What n ln 2
  // loses by its one constant is below the last digit of f32.
  Value half = constant(0.5, x), one = constant(1, x);
  x = clamp(x, -kTanhOne, kTanhOne);
  // Where an integer and this are added, the rest is rounded away.
  Value toLastBits = constant(kToLastBits, x);
  Value shifted = fma(x, constant(2 * M_LOG2E, x), toLastBits);
  Value power = sub(shifted, toLastBits);
  Value rest = fma(power, constant(-M_LN2 / 2, x), x);
  Value square = mul(rest, rest);
  Value small = fma(square, polynomial(rest, kHalfPower), rest);
  Value scale = powerOfTwo(shifted);
  Value a = fma(scale, small, fma(scale, half, constant(-0.5, x)));
  return divideOrdinary(a, add(a, one));
}

Value VectorMath::erf(Value x) const {
  Value magnitude = math::AbsFOp::create(builder, loc, x);
  Value limit = constant(kErfOne, x);
  Value isOne = less(limit, magnitude);
  Value limited = select(isOne, limit, magnitude);
  Value rest =
      exp2(arith::NegFOp::create(builder, loc, polynomial(limited, kErfc)));
  Value far =
      math::CopySignOp::create(builder, loc, sub(constant(1, x), rest), x);
  Value square = mul(x, x);
  Value near = fma(x, polynomial(square, kErf), x);
  Value isNear = less(magnitude, constant(kErfLimit, x));
  return select(isNear, near, far);
}

std::pair<Value, Value> VectorMath::sinCos(Value x) const {
  Value quarters =
      math::RoundEvenOp::create(builder, loc, mul(x, constant(M_2_PI, x)));
  Value rest = fma(quarters, constant(-kHalfPiHigh, x), x);
  rest = fma(quarters, constant(-kHalfPiLow, x), rest);
  Value square = mul(rest, rest);
  Value sine = fma(rest, mul(square, polynomial(square, kSin)), rest);
  Value cosine = fma(square, polynomial(square, kCos), constant(1, x));

  // Quarter turns, modulo 4, in the last bits of a sum: odd ones swap sine and
  // cosine, the second bit is a sign.
  Type bits = withElements(x.getType(), builder.getI64Type());
  auto toBits = [&](Value value) -> Value {
    return arith::BitcastOp::create(builder, loc, bits, value);
  };
  Value turns = toBits(add(quarters, constant(0x1.8p52, quarters)));
  Value isOdd = notEqual(bitAnd(turns, constant(1, turns)), constant(0, turns));
  // Negative where the second bit of `number` is set.
  auto withSign = [&](Value magnitude, Value number) -> Value {
    Value sign = shiftLeft(bitAnd(number, constant(2, number)), 62);
    Value flipped = bitXor(toBits(magnitude), sign);
    return arith::BitcastOp::create(builder, loc, x.getType(), flipped);
  };
  Value next = add(turns, 1);
  return {withSign(select(isOdd, cosine, sine), turns),
          withSign(select(isOdd, sine, cosine), next)};
}
