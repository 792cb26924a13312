//===- Double.h - Expressions of f64 ----------------------------*- C++ -*-===//
//
// Formulas in C++ that write a formula in IR: `x * y + 1` is two ops.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_MATH_DOUBLE_H
#define HEDDLE_LIB_KERNELS_MATH_DOUBLE_H

#include "mlir/IR/Builders.h"

namespace heddle {

/// A scalar f64 and where ops of it are built: at the builder's insertion
/// point. Conditions are of i1, bits of i64. The builder has to outlive it.
class Double {
public:
  Double(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;

  /// Another number at the same place.
  Double of(double number) const;
  Double of(mlir::Value other) const { return {*builder, loc, other}; }

  Double operator-() const;
  mlir::Value bits() const;
  /// bits(), as a number.
  Double fromBits(mlir::Value bits) const;
};

Double operator+(Double a, Double b);
Double operator-(Double a, Double b);
Double operator*(Double a, Double b);
Double operator/(Double a, Double b);
inline Double operator+(Double a, double b) { return a + a.of(b); }
inline Double operator-(Double a, double b) { return a - a.of(b); }
inline Double operator*(Double a, double b) { return a * a.of(b); }
inline Double operator/(Double a, double b) { return a / a.of(b); }
inline Double operator-(double a, Double b) { return b.of(a) - b; }
inline Double operator/(double a, Double b) { return b.of(a) / b; }

/// a b + c, rounded once.
Double fma(Double a, Double b, Double c);
Double abs(Double x);
Double sqrt(Double x);
/// The size of `x` with the sign of `sign`.
Double copySign(Double x, Double sign);
/// The integer next to x, below it, towards 0.
Double roundEven(Double x);
Double floor(Double x);
Double trunc(Double x);
/// series[0] + x (series[1] + x (...)).
Double polynomial(Double x, llvm::ArrayRef<double> series);

/// Comparisons, false of NaN.
mlir::Value less(Double a, Double b);
mlir::Value equal(Double a, Double b);
inline mlir::Value less(Double a, double b) { return less(a, a.of(b)); }
inline mlir::Value less(double a, Double b) { return less(b.of(a), b); }
inline mlir::Value equal(Double a, double b) { return equal(a, a.of(b)); }
Double select(mlir::Value condition, Double a, Double b);
/// x, not beyond the two; NaN passes through.
Double clamp(Double x, double lowest, double highest);

/// Integers of i64 beside numbers.
class Bits {
public:
  Bits(Double at, mlir::Value value) : at(at), value(value) {}

  Double at;
  mlir::Value value;

  Bits of(uint64_t number) const;
  Bits of(mlir::Value other) const { return {at, other}; }
};
Bits operator+(Bits a, Bits b);
Bits operator-(Bits a, Bits b);
Bits operator&(Bits a, Bits b);
Bits operator|(Bits a, Bits b);
/// By less than 64.
Bits operator<<(Bits a, Bits b);
/// Unsigned.
Bits operator>>(Bits a, Bits b);
inline Bits operator+(Bits a, uint64_t b) { return a + a.of(b); }
inline Bits operator-(Bits a, uint64_t b) { return a - a.of(b); }
inline Bits operator&(Bits a, uint64_t b) { return a & a.of(b); }
inline Bits operator|(Bits a, uint64_t b) { return a | a.of(b); }
inline Bits operator<<(Bits a, uint64_t b) { return a << a.of(b); }
inline Bits operator>>(Bits a, uint64_t b) { return a >> a.of(b); }
/// The sign fills up.
Bits shiftSigned(Bits a, uint64_t b);
mlir::Value isZero(Bits a);
mlir::Value uless(Bits a, Bits b);
Bits select(mlir::Value condition, Bits a, Bits b);
/// The number that an integer is.
Double toDouble(Bits a);

/// Of conditions.
mlir::Value logicalAnd(Double at, mlir::Value a, mlir::Value b);
mlir::Value logicalNot(Double at, mlir::Value a);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_MATH_DOUBLE_H
