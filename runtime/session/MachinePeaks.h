//===- MachinePeaks.h - What this machine can do ----------------*- C++ -*-===//
//
// The denominators of a profile: how fast multiply-adds can be at an ISA level,
// and how fast memory can be read. Measured, since names of processors say
// little about shared machines.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_MACHINEPEAKS_H
#define HEDDLE_RUNTIME_SESSION_MACHINEPEAKS_H

#include "runtime/Result.h"

#include <cstdint>
#include <string>

namespace heddle {

struct MachinePeaks {
  /// 10^9 multiplications and additions a second, of f32, bf16 and bytes.
  /// Levels without instructions for bf16 emulate it: it has the peak of f32.
  double gigaflops, bf16Gigaflops, int8Gigaops;
  /// 10^9 bytes a second, read from memory that no cache holds.
  double gigabytes;
};

/// Measures `threads` threads together, for about a second. `isa` is a level
/// that this machine has. Fails if memory or threads are short.
Result<MachinePeaks> measurePeaks(const std::string &isa, int64_t threads);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_MACHINEPEAKS_H
