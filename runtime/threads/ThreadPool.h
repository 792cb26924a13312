//===- ThreadPool.h - Threads that share a loop -----------------*- C++ -*-===//
//
// The parallelFor of KernelAbi.h. A kernel's loop takes microseconds, so its
// threads wait for the next one in a short spin before they sleep, and a thread
// that comes too late does not hold up a loop that the others have finished.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_THREADS_THREADPOOL_H
#define HEDDLE_RUNTIME_THREADS_THREADPOOL_H

#include "runtime/Result.h"
#include "runtime/code/KernelAbi.h"
#include "runtime/threads/TaskRange.h"
#include "runtime/threads/Thread.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle {

/// Owns its threads. One loop at a time.
class ThreadPool {
public:
  /// A pool of `threads`, at least 1, the caller's included. Fails if the
  /// system refuses a thread.
  static Result<std::unique_ptr<ThreadPool>> create(int64_t threads);

  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  /// Of type HeddleParallelFor; `pool` is a ThreadPool, and `count` any: more
  /// than TaskRange::kMostIterations are several loops. Every thread runs tasks
  /// in the float environment of entry points (FloatEnvironment.h); the caller
  /// is responsible for its own.
  static void parallelFor(void *pool, int64_t count, HeddleTask task,
                          void *context, void *scratch, int64_t scratchBytes);

  /// The threads, the caller's included.
  int64_t size() const { return static_cast<int64_t>(ranges.size()); }

private:
  explicit ThreadPool(int64_t threads) : ranges(static_cast<size_t>(threads)) {}

  void work(size_t number);
  bool join(uint32_t &lastLoop);
  void leave();
  void runTasks(size_t number);
  void waitForThreads();

  /// The loop that is open or was: whether threads may join it (bit 0), how
  /// many are inside (from bit 1 on), its number (the upper half).
  alignas(64) std::atomic<uint64_t> state{0};
  std::atomic<bool> stopping{false};
  /// Written by the caller while nobody is inside.
  HeddleTask task = nullptr;
  void *context = nullptr;
  char *scratch = nullptr;
  int64_t scratchBytes = 0;
  /// Of each thread, the caller's first.
  std::vector<TaskRange> ranges;

  /// For those who have waited too long to spin.
  alignas(64) std::mutex mutex;
  std::condition_variable loopOpened, threadsLeft;
  std::atomic<int64_t> sleepers{0};
  std::atomic<bool> callerSleeps{false};

  std::vector<Thread> threads;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_THREADS_THREADPOOL_H
