//===- Arith.h - Arithmetic of emitters and masks ---------------*- C++ -*-===//
//
// One vocabulary for all builders of code: Lanes and IndexMath of masks, and
// the loops of kernels for CPUs and GPUs inherit it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECT_ARITH_H
#define HEDDLE_DIALECT_ARITH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace heddle {

/// Builds ops of the arith dialect at the builder's insertion point, which has
/// to outlive this. Operands are index, integers or floats, scalars or vectors
/// of them; the element type chooses the op. A scalar beside a vector is
/// broadcast. Ops of integers fold if operands are constants, so that code
/// for constant sizes has constant addresses.
class Arith {
public:
  Arith(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  // Constants.
  mlir::Value index(int64_t value) const;
  mlir::Value i32(int64_t value) const;
  mlir::Value i1(bool value) const;
  mlir::Value f32(double value) const;
  /// vector<width x f32>, the value in every lane.
  mlir::Value f32(double value, int64_t width) const;
  /// A number of the type of `like`, in every lane.
  mlir::Value constant(double value, mlir::Value like) const;
  /// first, first + 1, ...: vector<width x i32>.
  mlir::Value iota(int64_t first, int64_t width) const;
  /// A scalar in every lane.
  mlir::Value broadcast(mlir::Value scalar, int64_t width) const;

  // Integers of either sign, and floats.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value add(mlir::Value lhs, int64_t rhs) const;
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value mul(mlir::Value lhs, int64_t rhs) const;
  /// Of floats NaN if either is.
  mlir::Value min(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value max(mlir::Value lhs, mlir::Value rhs) const;

  // Floats.
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) const;
  /// a b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const;
  /// The larger number; of a number and NaN the number.
  mlir::Value maxNumber(mlir::Value lhs, mlir::Value rhs) const;

  // Integers without a sign; the divisor is not 0.
  mlir::Value udiv(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value udiv(mlir::Value lhs, int64_t rhs) const;
  /// The quotient, rounded up.
  mlir::Value uceilDiv(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value uceilDiv(mlir::Value lhs, int64_t rhs) const;
  mlir::Value urem(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value urem(mlir::Value lhs, int64_t rhs) const;
  mlir::Value umin(mlir::Value lhs, mlir::Value rhs) const;
  /// The upper half of the product.
  mlir::Value umulHigh(mlir::Value lhs, mlir::Value rhs) const;
  /// The remainder with the sign of lhs: the one op here that has a sign.
  mlir::Value srem(mlir::Value lhs, mlir::Value rhs) const;

  // Bits of integers.
  mlir::Value bitAnd(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value bitOr(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value bitXor(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value shiftLeft(mlir::Value value, int64_t bits) const;
  /// Zeros come in at the top.
  mlir::Value shiftRight(mlir::Value value, int64_t bits) const;

  // Comparisons: i1, or vectors of it. Integers have signs; with NaN none but
  // notEqual holds.
  mlir::Value less(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value lessOrEqual(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value greater(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value equal(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value notEqual(mlir::Value lhs, mlir::Value rhs) const;
  /// Of integers without a sign.
  mlir::Value uless(mlir::Value lhs, mlir::Value rhs) const;

  // Conditions.
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value logicalOr(mlir::Value lhs, mlir::Value rhs) const;
  mlir::Value logicalNot(mlir::Value condition) const;
  /// `then` if the condition holds, else `otherwise`; both are computed.
  mlir::Value select(mlir::Value condition, mlir::Value then,
                     mlir::Value otherwise) const;

  // Conversions.
  mlir::Value toI32(mlir::Value index) const;
  mlir::Value toIndex(mlir::Value integer) const;
  /// The bits of f32 as i32, and back.
  mlir::Value bitcastToI32(mlir::Value number) const;
  mlir::Value bitcastToF32(mlir::Value bits) const;

  /// `value` in every lane if `other` is a vector and it is not.
  mlir::Value broadcastLike(mlir::Value value, mlir::Value other) const;
};

} // namespace heddle

#endif // HEDDLE_DIALECT_ARITH_H
