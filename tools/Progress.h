//===- Progress.h - How far a long run is -----------------------*- C++ -*-===//
//
// Counts lines on standard error, if somebody watches a long run whose input
// and output are elsewhere, and before that what a GPU has of a model.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_PROGRESS_H
#define HEDDLE_TOOLS_PROGRESS_H

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle {

/// A line if standard error is a terminal. One at a time; the line goes with
/// it.
class Progress {
public:
  /// How much of the weights is on its way to a GPU.
  static Progress ofWeights() { return Progress(true); }
  /// Lines; `isInput` says that they come from standard input.
  static Progress ofLines(bool isInput);
  ~Progress();
  Progress(const Progress &) = delete;

  void addLines(size_t count);
  /// `done` of `all` bytes.
  void showBytes(uint64_t done, uint64_t all);

private:
  using Clock = std::chrono::steady_clock;

  explicit Progress(bool mayShow);
  bool isDue();

  bool shown, hasLine = false;
  size_t lines = 0;
  Clock::time_point next;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_PROGRESS_H
