//===- EntryTrace.h - When an entry point called its kernels ----*- C++ -*-===//
//
// Some calls of an entry point, evenly spaced over all of them, so that the
// median of a run is among them, whatever its first and last batches are like.
// What is kept is bounded: if it is full, every other call is given up, and
// from there on half as many are kept. Keeping allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_ENTRYTRACE_H
#define HEDDLE_RUNTIME_SESSION_ENTRYTRACE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle {

/// A call of a kernel. Times are nanoseconds.
struct TracedKernel {
  /// Of the manifest's places.
  int64_t place;
  int64_t start;
  int64_t nanoseconds;
  int64_t flops;
  int64_t bytes;
};

/// Not thread-safe.
class EntryTrace {
public:
  /// The most calls of kernels that are kept, of one call of the entry and of
  /// all.
  static constexpr size_t kMostKernels = 2048;
  static constexpr size_t kMostKeptKernels = 8 * kMostKernels;
  /// The most calls of the entry.
  static constexpr size_t kMostCalls = 64;

  /// Of an entry with so many dims.
  explicit EntryTrace(size_t dimCount);

  /// A call of the entry, which began at `start` of the clock of `kernels`;
  /// `left` more of them were not recorded. At most kMostKernels.
  void add(const int64_t *dims, int64_t start, int64_t nanoseconds,
           const std::vector<TracedKernel> &kernels, int64_t left);
  /// Adds what another session kept. Allocates.
  void merge(const EntryTrace &other);

  /// One call of the entry; starts count from its own.
  struct Call {
    std::vector<int64_t> dims;
    int64_t nanoseconds = 0;
    std::vector<TracedKernel> kernels;
    /// Kernels that were called and are not in the list.
    int64_t left = 0;
  };
  /// The one of median time; there is one.
  Call median() const;
  bool empty() const { return calls.empty(); }

private:
  struct Kept {
    int64_t nanoseconds;
    int64_t left;
    size_t begin, end;
  };
  void giveUpHalf();

  size_t dimCount;
  /// Calls that were made, and how many of them one is kept of.
  int64_t made = 0, stride = 1;
  std::vector<Kept> calls;
  /// Of all that is kept, in order.
  std::vector<int64_t> dims;
  std::vector<TracedKernel> kernels;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_ENTRYTRACE_H
