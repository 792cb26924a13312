//===- Progress.h - How far a long run is -----------------------*- C++ -*-===//
//
// Counts lines on standard error, where somebody watches a long run whose input
// and output are elsewhere, and before that what a GPU has of a model.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_PROGRESS_H
#define HEDDLE_TOOLS_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle {

/// One at a time. The line goes with it.
class Progress {
public:
  /// `isInput` says that lines come from standard input.
  explicit Progress(bool isInput);
  ~Progress();
  Progress(const Progress &) = delete;

  void add(size_t count);

private:
  using Clock = std::chrono::steady_clock;

  bool shown;
  size_t lines = 0;
  Clock::time_point next;
};

/// How much of the weights is on its way to a GPU, where standard error is a
/// terminal. One at a time, and of no other. The line goes with it.
class LoadProgress {
public:
  LoadProgress();
  ~LoadProgress();
  LoadProgress(const LoadProgress &) = delete;

  /// `done` of `all` bytes.
  void show(uint64_t done, uint64_t all);

private:
  using Clock = std::chrono::steady_clock;

  bool shown, hasLine = false;
  Clock::time_point next;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_PROGRESS_H
