#include "dialect/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace heddle;

/// Splats `value` when `other` is a vector and it is not.
static Value splatLike(OpBuilder &builder, Location loc, Value value,
                       Value other) {
  auto vector = dyn_cast<VectorType>(other.getType());
  if (!vector || isa<VectorType>(value.getType()))
    return value;
  return builder.createOrFold<vector::BroadcastOp>(
      loc, vector.clone(value.getType()), value);
}

template <typename Op, typename... Leading>
static Value binary(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                    Leading... leading) {
  Value left = splatLike(builder, loc, lhs, rhs);
  Value right = splatLike(builder, loc, rhs, lhs);
  return builder.createOrFold<Op>(loc, leading..., left, right);
}

Value Lanes::constant(int32_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}
Value Lanes::constant(bool value) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
}
Value Lanes::add(Value lhs, Value rhs) {
  return binary<arith::AddIOp>(builder, loc, lhs, rhs);
}
Value Lanes::sub(Value lhs, Value rhs) {
  return binary<arith::SubIOp>(builder, loc, lhs, rhs);
}
Value Lanes::mul(Value lhs, Value rhs) {
  return binary<arith::MulIOp>(builder, loc, lhs, rhs);
}
Value Lanes::rem(Value lhs, Value rhs) {
  return binary<arith::RemSIOp>(builder, loc, lhs, rhs);
}
Value Lanes::lessOrEqual(Value lhs, Value rhs) {
  return binary<arith::CmpIOp>(builder, loc, lhs, rhs,
                               arith::CmpIPredicate::sle);
}
Value Lanes::less(Value lhs, Value rhs) {
  return binary<arith::CmpIOp>(builder, loc, lhs, rhs,
                               arith::CmpIPredicate::slt);
}
Value Lanes::equal(Value lhs, Value rhs) {
  return binary<arith::CmpIOp>(builder, loc, lhs, rhs,
                               arith::CmpIPredicate::eq);
}
Value Lanes::both(Value lhs, Value rhs) {
  return binary<arith::AndIOp>(builder, loc, lhs, rhs);
}
Value Lanes::either(Value lhs, Value rhs) {
  return binary<arith::OrIOp>(builder, loc, lhs, rhs);
}
Value Lanes::negate(Value predicate) {
  return binary<arith::XOrIOp>(builder, loc, predicate, constant(true));
}

Value Lanes::load(Value table, Value at) {
  Value index =
      builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), at);
  if (isa<MemRefType>(table.getType()))
    return memref::LoadOp::create(builder, loc, table, index);
  return builder.createOrFold<tensor::ExtractOp>(loc, table, index);
}

Value Lanes::table(ArrayRef<int64_t> values, Value at) {
  if (llvm::all_equal(values))
    return constant(static_cast<int32_t>(values.front()));
  // A chain of selects: heads are few, and a kernel per head folds it away.
  Value result = constant(static_cast<int32_t>(values.back()));
  for (int64_t index = values.size() - 2; index >= 0; --index) {
    Value here = equal(at, constant(static_cast<int32_t>(index)));
    result = builder.createOrFold<arith::SelectOp>(
        loc, here, constant(static_cast<int32_t>(values[index])), result);
  }
  return result;
}

KeyRange heddle::wholeRange(OpBuilder &builder, Location loc,
                            const QueryBlock &block) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {zero, block.keyCount, zero, zero};
}

/// The smaller bound; none is without bound.
static std::optional<int64_t> tighter(std::optional<int64_t> lhs,
                                      std::optional<int64_t> rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return std::min(*lhs, *rhs);
}

Reach heddle::intersect(const Reach &lhs, const Reach &rhs) {
  return {tighter(lhs.lookback, rhs.lookback),
          tighter(lhs.lookahead, rhs.lookahead)};
}
