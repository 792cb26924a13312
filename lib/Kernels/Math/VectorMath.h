//===- VectorMath.h - Elementary functions on vectors -----------*- C++ -*-===//
//
// Emitters write a function of libm as a dozen vector instructions: a reduction
// of the argument to a short interval, a polynomial, a scaling by a power of
// two. x86-64-v4 has instructions for the first and the last. The bits of a
// result do not depend on the number of lanes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_MATH_VECTORMATH_H
#define HEDDLE_LIB_KERNELS_MATH_VECTORMATH_H

#include "dialect/Arith.h"
#include "lib/CodeGen/Machine/Target.h"
#include <utility>

namespace heddle {

/// Builds expressions at the builder's insertion point. Operands are f32, or
/// f64 if a function says so: scalars or vectors of a power of two of lanes.
/// Bounds of errors are in units in the last place of the result (ulp), held
/// for every operand; NaN gives NaN, and results below 2^-126 are zero or, with
/// denormals enabled, a denormal or zero.
class VectorMath : public Arith {
public:
  /// Of ops that every target has.
  VectorMath(mlir::OpBuilder &builder, mlir::Location loc)
      : Arith(builder, loc) {}
  VectorMath(mlir::OpBuilder &builder, mlir::Location loc, const IsaLevel &isa)
      : Arith(builder, loc), hasReduceAndScale(isa.hasReduceAndScale),
        hasBf16(isa.hasBf16) {}
  virtual ~VectorMath() = default;

  /// As IsaLevel has them.
  bool hasReduceAndScale = false, hasBf16 = false;

  /// 2^x within 3 ulp, in seven instructions on x86-64-v4; 2^0 = 1, 2^-inf = 0,
  /// 2^inf = inf. An ulp may differ between levels for x in (-1, 0).
  mlir::Value exp2(mlir::Value x) const;

  /// e^x within 2 ulp; e^0 = 1, e^-inf = 0, e^inf = inf.
  mlir::Value exp(mlir::Value x) const;

  /// 1 / (1 + e^-x) within 3 ulp.
  mlir::Value sigmoid(mlir::Value x) const;

  /// Within 3 ulp.
  mlir::Value tanh(mlir::Value x) const;

  /// The error function, 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x,
  /// within 3 ulp.
  mlir::Value erf(mlir::Value x) const;

  /// Sine and cosine of an f64 x, |x| <= 2^20, within 2^-36.
  std::pair<mlir::Value, mlir::Value> sinCos(mlir::Value x) const;

  /// c[0] + x (c[1] + x (c[2] + ...)), one fused multiply-add each.
  mlir::Value polynomial(mlir::Value x,
                         llvm::ArrayRef<double> coefficients) const;

protected:
  /// `a` / `b` as div rounds it, of numbers that are far from the ends of their
  /// type, as is what they give.
  virtual mlir::Value divideOrdinary(mlir::Value a, mlir::Value b) const {
    return div(a, b);
  }

private:
  mlir::Value floorOf(mlir::Value x) const;
  mlir::Value clamp(mlir::Value x, double lowest, double highest) const;
  mlir::Value powerOfTwo(mlir::Value shifted) const;
  mlir::Value scaleByPower(mlir::Value x, mlir::Value power) const;
  mlir::Value x86(llvm::StringRef name, mlir::Value first, mlir::Value second,
                  mlir::Value passThrough) const;
};

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_MATH_VECTORMATH_H
