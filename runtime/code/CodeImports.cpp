//===- CodeImports.cpp - What compiled code may call ----------------------===//
//
// One table: MLIR's conversion of math to libm, LLVM's calls for intrinsics
// that no instruction computes, and what it makes of loops that fill and copy.
//
//===----------------------------------------------------------------------===//

#include "runtime/code/CodeImports.h"

#include <cstring>
#include <math.h>

/// Of the compiler's own library: x to an integer power.
extern "C" float __powisf2(float x, int exponent);
extern "C" double __powidf2(double x, int exponent);

/// Of overloaded functions the one of this type.
template <typename Function> static void *addressOf(Function *function) {
  return reinterpret_cast<void *>(function);
}

/// Both precisions of a function of libm, by their names in C.
#define UNARY(NAME)                                                            \
  {#NAME, addressOf<double(double)>(NAME)},                                    \
      {#NAME "f", addressOf<float(float)>(NAME##f)},
#define BINARY(NAME)                                                           \
  {#NAME, addressOf<double(double, double)>(NAME)},                            \
      {#NAME "f", addressOf<float(float, float)>(NAME##f)},

void *heddle::findCodeImport(std::string_view name) {
  static const struct {
    std::string_view name;
    void *address;
  } imports[] = {
      // clang-format off
      {"memcpy", addressOf(memcpy)},
      {"memmove", addressOf(memmove)},
      {"memset", addressOf(memset)},
      UNARY(acos) UNARY(acosh) UNARY(asin) UNARY(asinh) UNARY(atan)
      UNARY(atanh) UNARY(cbrt) UNARY(ceil) UNARY(cos) UNARY(cosh) UNARY(erf)
      UNARY(erfc) UNARY(exp) UNARY(exp10) UNARY(exp2) UNARY(expm1)
      UNARY(fabs) UNARY(floor) UNARY(log) UNARY(log10) UNARY(log1p)
      UNARY(log2) UNARY(nearbyint) UNARY(rint) UNARY(round) UNARY(roundeven)
      UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan) UNARY(tanh) UNARY(trunc)
      BINARY(atan2) BINARY(copysign) BINARY(fmax) BINARY(fmin) BINARY(fmod)
      BINARY(pow)
      // clang-format on
      {"fma", addressOf<double(double, double, double)>(fma)},
      {"fmaf", addressOf<float(float, float, float)>(fmaf)},
      {"ldexp", addressOf<double(double, int)>(ldexp)},
      {"ldexpf", addressOf<float(float, int)>(ldexpf)},
      {"sincos", addressOf<void(double, double *, double *)>(sincos)},
      {"sincosf", addressOf<void(float, float *, float *)>(sincosf)},
      {"__powisf2", addressOf(__powisf2)},
      {"__powidf2", addressOf(__powidf2)},
  };
  for (const auto &import : imports)
    if (import.name == name)
      return import.address;
  return nullptr;
}
