//===- TaskCosts.h - What is worth a task of a CPU's threads ----*- C++ -*-===//
//
// Kernels cut their work into tasks. A task takes some 20 us of one core, which
// is what it costs to wake a thread: here in what each kind of kernel counts.
// Caches are those of the cores that were measured; a larger one changes speed
// alone, never a bit.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_TASKCOSTS_H
#define HEDDLE_LIB_CODEGEN_MACHINE_TASKCOSTS_H

#include <cstdint>

namespace heddle {

/// Elements of rows that are loaded, added to and stored.
inline constexpr int64_t kTaskElements = 1 << 16;

/// Multiply-adds of vectors, at 120 GFLOP/s, and of AMX tiles, at 500 G/s.
inline constexpr int64_t kTaskProducts = 1200000, kTileTaskProducts = 5000000;

/// Bytes of weights that few rows of tiles read in that time, or more.
inline constexpr int64_t kTileTaskBytes = 1 << 20;

/// Weights of more bytes than the L2 cache of a core holds are read once by
/// rows that share a task; those of more than a part of the L3 cache, which
/// holds other weights, too, come from memory for every call.
inline constexpr int64_t kL2Bytes = 1 << 20, kL3Bytes = 1 << 24;

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_TASKCOSTS_H
