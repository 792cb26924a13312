//===- Double.cpp - One op per operator -----------------------------------===//
//
// A constant takes builder and location from a number at hand, so that a
// formula names neither. Polynomials are evaluated by Horner's rule with fused
// multiply-adds: one rounding per term. Comparisons are ordered, so that
// `clamp` lets NaN pass. Bits wrap 64-bit integers in the same way, for
// formulas that take a number apart into exponent and fraction.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Math/Double.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

template <typename Op, typename... Operands>
static Double make(Double at, Operands... operands) {
  return at.of(Op::create(*at.builder, at.loc, operands...).getResult());
}

Double Double::of(double number) const {
  return of(arith::ConstantFloatOp::create(*builder, loc, builder->getF64Type(),
                                           APFloat(number)));
}

Double Double::operator-() const { return make<arith::NegFOp>(*this, value); }

Value Double::bits() const {
  return arith::BitcastOp::create(*builder, loc, builder->getI64Type(), value);
}

Double Double::fromBits(Value bits) const {
  return make<arith::BitcastOp>(*this, builder->getF64Type(), bits);
}

Double heddle::operator+(Double a, Double b) {
  return make<arith::AddFOp>(a, a.value, b.value);
}
Double heddle::operator-(Double a, Double b) {
  return make<arith::SubFOp>(a, a.value, b.value);
}
Double heddle::operator*(Double a, Double b) {
  return make<arith::MulFOp>(a, a.value, b.value);
}
Double heddle::operator/(Double a, Double b) {
  return make<arith::DivFOp>(a, a.value, b.value);
}

Double heddle::fma(Double a, Double b, Double c) {
  return make<math::FmaOp>(a, a.value, b.value, c.value);
}
Double heddle::abs(Double x) { return make<math::AbsFOp>(x, x.value); }
Double heddle::sqrt(Double x) { return make<math::SqrtOp>(x, x.value); }
Double heddle::copySign(Double x, Double sign) {
  return make<math::CopySignOp>(x, x.value, sign.value);
}
Double heddle::roundEven(Double x) {
  return make<math::RoundEvenOp>(x, x.value);
}
Double heddle::floor(Double x) { return make<math::FloorOp>(x, x.value); }
Double heddle::trunc(Double x) { return make<math::TruncOp>(x, x.value); }

Double heddle::polynomial(Double x, ArrayRef<double> series) {
  Double sum = x.of(series.back());
  for (double factor : llvm::reverse(series.drop_back()))
    sum = fma(sum, x, x.of(factor));
  return sum;
}

static Value compare(arith::CmpFPredicate predicate, Double a, Double b) {
  return arith::CmpFOp::create(*a.builder, a.loc, predicate, a.value, b.value);
}
Value heddle::less(Double a, Double b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Value heddle::equal(Double a, Double b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}

Double heddle::select(Value condition, Double a, Double b) {
  return make<arith::SelectOp>(a, condition, a.value, b.value);
}

Double heddle::clamp(Double x, double lowest, double highest) {
  x = select(less(x, lowest), x.of(lowest), x);
  return select(less(highest, x), x.of(highest), x);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename Op, typename... Operands>
static Bits makeBits(Bits a, Operands... operands) {
  return a.of(Op::create(*a.at.builder, a.at.loc, operands...).getResult());
}

Bits Bits::of(uint64_t number) const {
  return of(arith::ConstantIntOp::create(*at.builder, at.loc,
                                         at.builder->getI64Type(),
                                         static_cast<int64_t>(number)));
}

Bits heddle::operator+(Bits a, Bits b) {
  return makeBits<arith::AddIOp>(a, a.value, b.value);
}
Bits heddle::operator-(Bits a, Bits b) {
  return makeBits<arith::SubIOp>(a, a.value, b.value);
}
Bits heddle::operator&(Bits a, Bits b) {
  return makeBits<arith::AndIOp>(a, a.value, b.value);
}
Bits heddle::operator|(Bits a, Bits b) {
  return makeBits<arith::OrIOp>(a, a.value, b.value);
}
Bits heddle::operator<<(Bits a, Bits b) {
  return makeBits<arith::ShLIOp>(a, a.value, b.value);
}
Bits heddle::operator>>(Bits a, Bits b) {
  return makeBits<arith::ShRUIOp>(a, a.value, b.value);
}
Bits heddle::shiftSigned(Bits a, uint64_t b) {
  return makeBits<arith::ShRSIOp>(a, a.value, a.of(b).value);
}

static Value compare(arith::CmpIPredicate predicate, Bits a, Bits b) {
  return arith::CmpIOp::create(*a.at.builder, a.at.loc, predicate, a.value,
                               b.value);
}
Value heddle::isZero(Bits a) {
  return compare(arith::CmpIPredicate::eq, a, a.of(uint64_t(0)));
}
Value heddle::uless(Bits a, Bits b) {
  return compare(arith::CmpIPredicate::ult, a, b);
}

Bits heddle::select(Value condition, Bits a, Bits b) {
  return makeBits<arith::SelectOp>(a, condition, a.value, b.value);
}

Double heddle::toDouble(Bits a) {
  return make<arith::SIToFPOp>(a.at, a.at.builder->getF64Type(), a.value);
}

Value heddle::logicalAnd(Double at, Value a, Value b) {
  return arith::AndIOp::create(*at.builder, at.loc, a, b);
}

Value heddle::logicalNot(Double at, Value a) {
  Value one = arith::ConstantIntOp::create(*at.builder, at.loc, /*value=*/1, 1);
  return arith::XOrIOp::create(*at.builder, at.loc, a, one);
}
