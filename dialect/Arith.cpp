//===- Arith.cpp - The op of each element type ----------------------------===//
//
// Ops of integers are created with folding; ops of floats are not, since their
// operands are seldom constants and a pattern may look for them. A float's
// product and sum become one op only in fma.
//
//===----------------------------------------------------------------------===//

#include "dialect/Arith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace heddle;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}
[[maybe_unused]] static bool isCondition(Value value) {
  return getElementTypeOrSelf(value).isInteger(1);
}

Value Arith::broadcastLike(Value value, Value other) const {
  auto vector = dyn_cast<VectorType>(other.getType());
  if (!vector || isa<VectorType>(value.getType()))
    return value;
  return builder.createOrFold<vector::BroadcastOp>(
      loc, vector.clone(value.getType()), value);
}

/// A vector if `like` is one, of another element type.
static Type withElements(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(element)) : element;
}

Value Arith::index(int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value Arith::i32(int64_t value) const {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}
Value Arith::i1(bool value) const {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
}
Value Arith::f32(double value) const {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}
Value Arith::f32(double value, int64_t width) const {
  auto type = VectorType::get(width, builder.getF32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, static_cast<float>(value)));
}
Value Arith::constant(double value, Value like) const {
  Type type = like.getType(), element = getElementTypeOrSelf(type);
  TypedAttr number =
      isFloat(like)
          ? TypedAttr(FloatAttr::get(element, value))
          : TypedAttr(IntegerAttr::get(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, Attribute(number));
  return arith::ConstantOp::create(builder, loc, number);
}
Value Arith::iota(int64_t first, int64_t width) const {
  SmallVector<int32_t> lanes(width);
  std::iota(lanes.begin(), lanes.end(), static_cast<int32_t>(first));
  auto type = VectorType::get(width, builder.getI32Type());
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(lanes)));
}
Value Arith::broadcast(Value scalar, int64_t width) const {
  return builder.createOrFold<vector::BroadcastOp>(
      loc, VectorType::get(width, scalar.getType()), scalar);
}

/// An op of integers, of values that have as many lanes.
template <typename Op, typename... Leading>
static Value fold(const Arith &arith, Value lhs, Value rhs,
                  Leading... leading) {
  return arith.builder.createOrFold<Op>(arith.loc, leading...,
                                        arith.broadcastLike(lhs, rhs),
                                        arith.broadcastLike(rhs, lhs));
}
/// The same of floats.
template <typename Op, typename... Leading>
static Value create(const Arith &arith, Value lhs, Value rhs,
                    Leading... leading) {
  Value left = arith.broadcastLike(lhs, rhs);
  Value right = arith.broadcastLike(rhs, lhs);
  return Op::create(arith.builder, arith.loc, leading..., left, right);
}
template <typename FloatOp, typename IntegerOp>
static Value byType(const Arith &arith, Value lhs, Value rhs) {
  return isFloat(lhs) ? create<FloatOp>(arith, lhs, rhs)
                      : fold<IntegerOp>(arith, lhs, rhs);
}
static Value compare(const Arith &arith, Value lhs, Value rhs,
                     arith::CmpFPredicate ofFloats,
                     arith::CmpIPredicate ofIntegers) {
  return isFloat(lhs) ? create<arith::CmpFOp>(arith, lhs, rhs, ofFloats)
                      : fold<arith::CmpIOp>(arith, lhs, rhs, ofIntegers);
}

Value Arith::add(Value lhs, Value rhs) const {
  return byType<arith::AddFOp, arith::AddIOp>(*this, lhs, rhs);
}
Value Arith::add(Value lhs, int64_t rhs) const {
  return rhs == 0 ? lhs : add(lhs, constant(rhs, lhs));
}
Value Arith::sub(Value lhs, Value rhs) const {
  return byType<arith::SubFOp, arith::SubIOp>(*this, lhs, rhs);
}
Value Arith::mul(Value lhs, Value rhs) const {
  return byType<arith::MulFOp, arith::MulIOp>(*this, lhs, rhs);
}
Value Arith::mul(Value lhs, int64_t rhs) const {
  return rhs == 1 ? lhs : mul(lhs, constant(rhs, lhs));
}
Value Arith::min(Value lhs, Value rhs) const {
  return byType<arith::MinimumFOp, arith::MinSIOp>(*this, lhs, rhs);
}
Value Arith::max(Value lhs, Value rhs) const {
  return byType<arith::MaximumFOp, arith::MaxSIOp>(*this, lhs, rhs);
}

Value Arith::div(Value lhs, Value rhs) const {
  return create<arith::DivFOp>(*this, lhs, rhs);
}
Value Arith::fma(Value a, Value b, Value c) const {
  // Not vector.fma: LLVM may take that apart if a target allows it to.
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value Arith::maxNumber(Value lhs, Value rhs) const {
  return create<arith::MaxNumFOp>(*this, lhs, rhs);
}

Value Arith::udiv(Value lhs, Value rhs) const {
  return fold<arith::DivUIOp>(*this, lhs, rhs);
}
Value Arith::udiv(Value lhs, int64_t rhs) const {
  return rhs == 1 ? lhs : udiv(lhs, constant(rhs, lhs));
}
Value Arith::uceilDiv(Value lhs, Value rhs) const {
  return fold<arith::CeilDivUIOp>(*this, lhs, rhs);
}
Value Arith::uceilDiv(Value lhs, int64_t rhs) const {
  return rhs == 1 ? lhs : uceilDiv(lhs, constant(rhs, lhs));
}
Value Arith::urem(Value lhs, Value rhs) const {
  return fold<arith::RemUIOp>(*this, lhs, rhs);
}
Value Arith::urem(Value lhs, int64_t rhs) const {
  return urem(lhs, constant(rhs, lhs));
}
Value Arith::umin(Value lhs, Value rhs) const {
  return fold<arith::MinUIOp>(*this, lhs, rhs);
}
Value Arith::umulHigh(Value lhs, Value rhs) const {
  SmallVector<Value> halves;
  builder.createOrFold<arith::MulUIExtendedOp>(
      halves, loc, broadcastLike(lhs, rhs), broadcastLike(rhs, lhs));
  return halves[1];
}
Value Arith::srem(Value lhs, Value rhs) const {
  return fold<arith::RemSIOp>(*this, lhs, rhs);
}

Value Arith::bitAnd(Value lhs, Value rhs) const {
  return fold<arith::AndIOp>(*this, lhs, rhs);
}
Value Arith::bitOr(Value lhs, Value rhs) const {
  return fold<arith::OrIOp>(*this, lhs, rhs);
}
Value Arith::bitXor(Value lhs, Value rhs) const {
  return fold<arith::XOrIOp>(*this, lhs, rhs);
}
Value Arith::shiftLeft(Value value, int64_t bits) const {
  return fold<arith::ShLIOp>(*this, value, constant(bits, value));
}
Value Arith::shiftRight(Value value, int64_t bits) const {
  return fold<arith::ShRUIOp>(*this, value, constant(bits, value));
}

Value Arith::less(Value lhs, Value rhs) const {
  return compare(*this, lhs, rhs, arith::CmpFPredicate::OLT,
                 arith::CmpIPredicate::slt);
}
Value Arith::lessOrEqual(Value lhs, Value rhs) const {
  return compare(*this, lhs, rhs, arith::CmpFPredicate::OLE,
                 arith::CmpIPredicate::sle);
}
Value Arith::greater(Value lhs, Value rhs) const {
  return compare(*this, lhs, rhs, arith::CmpFPredicate::OGT,
                 arith::CmpIPredicate::sgt);
}
Value Arith::equal(Value lhs, Value rhs) const {
  return compare(*this, lhs, rhs, arith::CmpFPredicate::OEQ,
                 arith::CmpIPredicate::eq);
}
Value Arith::notEqual(Value lhs, Value rhs) const {
  return compare(*this, lhs, rhs, arith::CmpFPredicate::UNE,
                 arith::CmpIPredicate::ne);
}
Value Arith::uless(Value lhs, Value rhs) const {
  return fold<arith::CmpIOp>(*this, lhs, rhs, arith::CmpIPredicate::ult);
}

Value Arith::logicalAnd(Value lhs, Value rhs) const {
  assert(isCondition(lhs) && "bitAnd is for numbers");
  return fold<arith::AndIOp>(*this, lhs, rhs);
}
Value Arith::logicalOr(Value lhs, Value rhs) const {
  assert(isCondition(lhs) && "bitOr is for numbers");
  return fold<arith::OrIOp>(*this, lhs, rhs);
}
Value Arith::logicalNot(Value condition) const {
  assert(isCondition(condition));
  return fold<arith::XOrIOp>(*this, condition, i1(true));
}
Value Arith::select(Value condition, Value then, Value otherwise) const {
  // A scalar condition chooses between whole vectors.
  for (Value other : {condition, then, otherwise}) {
    then = broadcastLike(then, other);
    otherwise = broadcastLike(otherwise, other);
  }
  return builder.createOrFold<arith::SelectOp>(loc, condition, then, otherwise);
}

Value Arith::toI32(Value index) const {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  index);
}
Value Arith::toIndex(Value integer) const {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                  integer);
}
Value Arith::bitcastToI32(Value number) const {
  return builder.createOrFold<arith::BitcastOp>(
      loc, withElements(number, builder.getI32Type()), number);
}
Value Arith::bitcastToF32(Value bits) const {
  return builder.createOrFold<arith::BitcastOp>(
      loc, withElements(bits, builder.getF32Type()), bits);
}
