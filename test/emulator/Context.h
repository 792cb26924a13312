//===- Context.h - What emulated code knows of its thread -------*- C++ -*-===//
//
// Generated code takes a pointer to a Context in front of its own parameters
// and reads special registers and addresses from it; functions of the emulator
// that it calls take it, too. A fiber has one of its own; threads that run one
// after the other share one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_CONTEXT_H
#define HEDDLE_TEST_EMULATOR_CONTEXT_H

#include <cstdint>

namespace heddle::emulator {

class Worker;

/// Allocated addresses that an access may start at: from `first` to
/// `first + last`. Wide accesses have a smaller `last`. Never met at first.
struct KnownRange {
  uint64_t first = 1;
  uint64_t last = 0;
};

/// Plain data: generated code knows the offsets.
struct Context {
  uint32_t thread[3] = {0, 0, 0};
  uint32_t block[3] = {0, 0, 0};
  uint32_t blockSize[3] = {1, 1, 1};
  uint32_t gridSize[3] = {1, 1, 1};
  /// Blocks of the cluster, which stand side by side along x, and which of them
  /// this is.
  uint32_t clusterSize = 1, clusterRank = 0;
  /// thread[] as one number; its warp is 32 of them.
  uint32_t linearThread = 0;
  uint32_t dynamicSharedBytes = 0;
  /// Shared addresses are small numbers, as the hardware's are: the first one
  /// of the block, and where address zero is in this process.
  uint64_t sharedBase = 0;
  uint64_t sharedWindow = 0;
  /// The same of addresses that name a block of the cluster: see
  /// SharedMemory.h.
  uint64_t clusterWindow = 0;
  /// One for each access of the code that is checked.
  KnownRange *knownRanges = nullptr;
  Worker *worker = nullptr;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_CONTEXT_H
