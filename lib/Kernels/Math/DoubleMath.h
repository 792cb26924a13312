//===- DoubleMath.h - Elementary functions of f64 ---------------*- C++ -*-===//
//
// For what has no library of mathematics: a GPU. Functions of f32 that nothing
// often calls are these, too, rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_KERNELS_MATH_DOUBLEMATH_H
#define HEDDLE_LIB_KERNELS_MATH_DOUBLEMATH_H

#include "lib/Kernels/Math/Double.h"
#include <utility>

/// Each takes every f64 as C's function of the name does: infinities, zeros of
/// either sign, NaN. Errors are in units in the last place (ulp), and hold for
/// results that are no denormals.
namespace heddle::doubles {

/// Within 2 ulp.
Double exp(Double x);
Double exp2(Double x);
Double expm1(Double x);
/// Within 3 ulp.
Double log(Double x);
Double log1p(Double x);
Double log2(Double x);
Double log10(Double x);
/// Within 2^-43 of the result, where that is largest, and closer to 1 better.
Double pow(Double x, Double y);
/// Within 2 ulp.
Double cbrt(Double x);
/// Within 4 ulp.
Double sinh(Double x);
Double cosh(Double x);
Double tanh(Double x);
Double asinh(Double x);
Double acosh(Double x);
Double atanh(Double x);
Double erf(Double x);
/// Within 7 ulp.
Double erfc(Double x);

/// Within 3 ulp, of every x.
Double sin(Double x);
Double cos(Double x);
/// One of them, of an x >= 0: with as many instructions as one.
Double sinOrCos(Double x, mlir::Value isSine);
/// Within 4 ulp.
Double tan(Double x);
Double atan(Double x);
Double atan2(Double y, Double x);
Double asin(Double x);
Double acos(Double x);

/// The remainder of x / y with the sign of x, which is exact.
Double fmod(Double x, Double y);

} // namespace heddle::doubles

#endif // HEDDLE_LIB_KERNELS_MATH_DOUBLEMATH_H
