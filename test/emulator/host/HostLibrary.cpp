//===- HostLibrary.cpp - Functions that generated code may call -----------===//

#include "HostLibrary.h"
#include "test/emulator/assembly/Numbers.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <cmath>
#include <cstring>

using namespace heddle::emulator;
using namespace llvm;

// x86-64 passes bf16 and half in the low bits of an SSE register.
static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
static float truncateToBf16(float value) { return fromBits(toBf16(value)); }
static float truncateDoubleToBf16(double value) {
  return fromBits(toBf16(static_cast<float>(value)));
}
static float truncateToHalf(float value) { return fromBits(toHalf(value)); }
static float truncateDoubleToHalf(double value) {
  return fromBits(toHalf(static_cast<float>(value)));
}
static float extendHalf(float half) {
  uint32_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return fromHalf(static_cast<uint16_t>(bits));
}

std::unique_ptr<orc::MaterializationUnit>
heddle::emulator::hostLibrary(const orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported |
                                              JITSymbolFlags::Callable};
  };
  using Float1 = float (*)(float);
  using Float2 = float (*)(float, float);
  using Double1 = double (*)(double);
  using Double2 = double (*)(double, double);
#define UNARY(NAME)                                                            \
  add(#NAME "f", static_cast<Float1>(::NAME##f));                              \
  add(#NAME, static_cast<Double1>(::NAME))
#define BINARY(NAME)                                                           \
  add(#NAME "f", static_cast<Float2>(::NAME##f));                              \
  add(#NAME, static_cast<Double2>(::NAME))
  UNARY(exp);
  UNARY(exp2);
  UNARY(expm1);
  UNARY(log);
  UNARY(log2);
  UNARY(log10);
  UNARY(log1p);
  UNARY(sin);
  UNARY(cos);
  UNARY(tan);
  UNARY(tanh);
  UNARY(sinh);
  UNARY(cosh);
  UNARY(asin);
  UNARY(acos);
  UNARY(atan);
  UNARY(erf);
  UNARY(erfc);
  UNARY(sqrt);
  UNARY(cbrt);
  UNARY(floor);
  UNARY(ceil);
  UNARY(trunc);
  UNARY(rint);
  UNARY(nearbyint);
  UNARY(round);
  UNARY(roundeven);
  UNARY(fabs);
  BINARY(pow);
  BINARY(atan2);
  BINARY(fmod);
  BINARY(fmin);
  BINARY(fmax);
  BINARY(fdim);
  BINARY(copysign);
#undef UNARY
#undef BINARY
  add("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  add("fma", static_cast<double (*)(double, double, double)>(::fma));
  add("ldexpf", static_cast<float (*)(float, int)>(::ldexpf));
  add("ldexp", static_cast<double (*)(double, int)>(::ldexp));
  add("memcpy", static_cast<void *(*)(void *, const void *, size_t)>(::memcpy));
  add("memmove",
      static_cast<void *(*)(void *, const void *, size_t)>(::memmove));
  add("memset", static_cast<void *(*)(void *, int, size_t)>(::memset));
  add("__truncsfbf2", truncateToBf16);
  add("__truncdfbf2", truncateDoubleToBf16);
  add("__truncsfhf2", truncateToHalf);
  add("__truncdfhf2", truncateDoubleToHalf);
  add("__extendhfsf2", extendHalf);
  return orc::absoluteSymbols(std::move(symbols));
}
