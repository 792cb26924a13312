//===- Lines.h - Where lines come from --------------------------*- C++ -*-===//
//
// What runs over lines asks for them by this interface, some at a time: they
// stand in a file, come from somebody who waits for each answer, or are in
// memory already.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LINES_H
#define HEDDLE_RUNTIME_LINES_LINES_H

#include "runtime/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A text, or its ids.
struct LineText {
  std::string text;
  /// If somebody has them already, in place of the text.
  std::optional<std::vector<int32_t>> ids = {};

  int64_t bytes() const {
    return int64_t(text.size() + (ids ? ids->size() * sizeof(int32_t) : 0));
  }
};

/// A line as it is read, without its end.
struct Line {
  LineText source;
  /// What is said of its target: what that begins with, or all of it. Empty
  /// if nobody says anything.
  LineText target = {};
  /// Why it cannot be read, as a sentence that names it; empty for most.
  std::string failure = {};
  /// The second text of a pair.
  std::optional<std::string> pair = {};

  int64_t bytes() const {
    return source.bytes() + target.bytes() + int64_t(pair ? pair->size() : 0);
  }
};

/// How much is read together.
struct LineLimits {
  int64_t lines;
  int64_t bytes;
};

/// Consecutive lines of an input.
struct Lines {
  std::vector<Line> lines;
  /// No line follows: the input is at its end, or `failure` says why not.
  bool last = false;
  /// About what comes behind `lines`, which can still be answered.
  Status failure = Status::success();
};

/// Numbers of lines count from 0; what people read counts from 1.
class LineSource {
public:
  virtual ~LineSource() = default;

  /// The next lines: at most `limits.lines`, none behind the one that brings
  /// their bytes to `limits.bytes`, and only the first one is waited for.
  /// Called by one thread at a time, and not behind the last lines.
  virtual Lines next(const LineLimits &limits) = 0;
  /// Makes a next() that waits return, with any lines; one that is called at
  /// the same time does not wait, either. Any thread.
  virtual void interrupt() {}
  /// Names a line that was read: "line 3 of standard input". Any thread.
  virtual std::string nameOf(int64_t number) const = 0;
  /// Names what is said of its target: "line 3 of 'prefixes.txt'". Any thread.
  virtual std::string nameOfTarget(int64_t number) const {
    return nameOf(number);
  }
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LINES_H
