//===- TaskRange.h - Iterations that a thread has before it -----*- C++ -*-===//
//
// A thread takes its own iterations in their order, so that one may ask for the
// memory of the next. Others, whose ranges are empty, take from the end.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_THREADS_TASKRANGE_H
#define HEDDLE_RUNTIME_THREADS_TASKRANGE_H

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace heddle {

/// Iterations begin ... end - 1.
struct TaskRun {
  int64_t begin, end;

  bool isEmpty() const { return begin >= end; }
};

/// A range that several threads take runs from; each iteration is taken once.
/// What the iterations read and write is not ordered by it.
class TaskRange {
public:
  /// No more than this many iterations fit, counted from 0.
  static constexpr int64_t kMostIterations = UINT32_MAX;

  /// While nobody takes any.
  void assign(TaskRun run) {
    range.store(pack(run), std::memory_order_relaxed);
  }
  /// The next iterations; empty if none are left.
  TaskRun takeFirst() {
    return take([](TaskRun left, int64_t count) {
      return TaskRun{left.begin, left.begin + count};
    });
  }
  /// The last iterations; empty if none are left.
  TaskRun takeLast() {
    return take([](TaskRun left, int64_t count) {
      return TaskRun{left.end - count, left.end};
    });
  }

private:
  /// Of what is left a run takes this part: others shall find something.
  static constexpr int64_t kPart = 4;

  static uint64_t pack(TaskRun run) {
    return static_cast<uint64_t>(run.begin) << 32 |
           static_cast<uint64_t>(run.end);
  }
  static TaskRun unpack(uint64_t bits) {
    return {static_cast<int64_t>(bits >> 32),
            static_cast<int64_t>(static_cast<uint32_t>(bits))};
  }

  /// `choose` picks a number of iterations at one end.
  template <typename Choose> TaskRun take(Choose choose) {
    uint64_t now = range.load(std::memory_order_relaxed);
    for (;;) {
      TaskRun left = unpack(now);
      if (left.isEmpty())
        return left;
      TaskRun run =
          choose(left, std::max<int64_t>(1, (left.end - left.begin) / kPart));
      TaskRun rest = run.begin == left.begin ? TaskRun{run.end, left.end}
                                             : TaskRun{left.begin, run.begin};
      if (range.compare_exchange_weak(now, pack(rest),
                                      std::memory_order_relaxed))
        return run;
    }
  }

  /// Begin in the upper half, end in the lower; a cache line of its own.
  alignas(64) std::atomic<uint64_t> range{0};
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_THREADS_TASKRANGE_H
