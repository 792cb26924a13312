//===- BestLines.h - The best lines of a stream -----------------*- C++ -*-===//
//
// Lines come with scores, one after the other. The best ones are kept, in a
// heap with the worst one first: memory does not grow with the input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_BESTLINES_H
#define HEDDLE_TOOLS_RUN_BESTLINES_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace heddle {

/// A line with its number, from 0, and its text, if it came with one.
struct ScoredLine {
  int64_t number;
  float score;
  std::string text;
};

class BestLines {
public:
  /// Keeps the `most` best lines.
  explicit BestLines(size_t most) : most(most) {}

  /// Numbers ascend. What is no number is worse than any.
  void add(int64_t number, float score, const std::string &text);
  /// The best one first; equal ones as they came.
  std::vector<ScoredLine> take();

private:
  size_t most;
  std::vector<ScoredLine> lines;
};

/// The texts of lines that one thread reads and another scores.
class LinesUnderWay {
public:
  void add(const std::string &text) {
    std::lock_guard lock(mutex);
    texts.push_back(text);
  }
  /// The first one that was not taken yet.
  std::string take() {
    std::lock_guard lock(mutex);
    std::string text = std::move(texts.front());
    texts.pop_front();
    return text;
  }

private:
  std::mutex mutex;
  std::deque<std::string> texts;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_BESTLINES_H
