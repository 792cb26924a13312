//===- FloatEnvironment.h - How compiled code computes ----------*- C++ -*-===//
//
// Compiled code runs with denormals flushed to zero, since some processors
// take a hundred times longer for them and no result of a transformer needs
// one, and with the rest of the control register (MXCSR) at its defaults, so
// that no result depends on what the caller did to its own. Every thread has a
// register of its own: each call of an entry point stands in such a scope.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CODE_FLOATENVIRONMENT_H
#define HEDDLE_RUNTIME_CODE_FLOATENVIRONMENT_H

#include <immintrin.h>

namespace heddle {

/// Sets this thread's register and, at the end of its scope, gives back what
/// stood there, exception flags included.
class FloatEnvironment {
public:
  FloatEnvironment() : callers(_mm_getcsr()) { _mm_setcsr(kCompiledCode); }
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;
  ~FloatEnvironment() { _mm_setcsr(callers); }

private:
  static constexpr unsigned kCompiledCode = _MM_MASK_MASK | _MM_ROUND_NEAREST |
                                            _MM_FLUSH_ZERO_ON |
                                            _MM_DENORMALS_ZERO_ON;

  unsigned callers;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_CODE_FLOATENVIRONMENT_H
