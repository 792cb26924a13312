//===- MemoryPlan.h - How a run keeps to a limit ----------------*- C++ -*-===//
//
// From a limit to what sessions may take: less what the process has already,
// and what workers and lines on their way need. The limit of a GPU's memory is
// for sessions alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SESSION_MEMORYPLAN_H
#define HEDDLE_RUNTIME_SESSION_MEMORYPLAN_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>

namespace heddle {

/// As sentences name an amount: rounded up.
inline int64_t toMebibytes(int64_t bytes) { return (bytes + 0xfffff) >> 20; }

/// Bytes of this process that are no mapped file's, as the system counts them.
int64_t anonymousMemory();

class MemoryPlan {
public:
  /// Text of a batch that may be on its way, for each of as many batches as a
  /// worker is ahead of the output at most.
  static constexpr int64_t kBatchBytes = 4 << 10;
  /// What becoming ids takes of memory for each byte of a line, and what of it
  /// a worker has anyway.
  static constexpr int64_t kBytesOfText = 64, kBytesOfShortLine = 1 << 20;

  /// A plan within `limit` bytes for up to `workers`, of which `held` are taken
  /// already; none if sessions alone are bounded, in a memory of their own.
  MemoryPlan(int64_t limit, std::optional<int64_t> held, int64_t workers)
      : limit(limit), held(held), most(workers) {}

  /// Chooses the number of workers, the most of which each has `wanted` bytes
  /// for its session; if none has, one with `least`. Without a choice it is
  /// what it is, and each has `least`. Fails if there is no such number.
  Status chooseWorkers(int64_t wanted, int64_t least, bool mayBeFewer);

  int64_t workers() const { return count; }
  /// What all sessions together may take.
  int64_t forSessions() const { return forSessionsOf(count); }
  /// "needs 212 MiB of memory": a run with one session of so many bytes. With a
  /// limit of that it has them.
  Status refuse(int64_t bytes) const;

private:
  int64_t besideSessionsOf(int64_t workers) const;
  int64_t forSessionsOf(int64_t workers) const {
    return limit - besideSessionsOf(workers);
  }

  int64_t limit;
  std::optional<int64_t> held;
  int64_t most, count = 1;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SESSION_MEMORYPLAN_H
