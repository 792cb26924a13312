//===- InputLines.h - The lines of a run ------------------------*- C++ -*-===//
//
// What heddle-run reads: lines, and beside them what a file says of their
// targets. Gives them to heddle.h as a source.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_INPUTLINES_H
#define HEDDLE_TOOLS_RUN_INPUTLINES_H

#include "runtime/heddle.h"
#include "tools/LineReader.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// One thread at a time, except for what a source says otherwise.
class InputLines {
public:
  /// The texts of the command line, or standard input if there are none;
  /// with a file of targets, unless its path is empty.
  static Result<InputLines> open(const std::vector<std::string> &texts,
                                 const std::string &targets = "",
                                 bool keepsEnds = false);

  /// The lines of a file.
  static Result<InputLines> openFile(const std::string &path);

  /// The next line; nothing behind the last one.
  Result<std::optional<std::string>> next();
  /// Goes on behind a line on which next() failed, if that was only too long.
  bool skipTooLong();
  /// "line 3 of standard input", from 0. Any thread.
  std::string nameOf(int64_t number) const { return lines.nameOf(number); }
  int64_t linesRead() const { return lines.linesRead(); }
  /// Whether a line has no end to keep. Any thread.
  bool lacksEnd(int64_t number) const { return lines.lacksEnd(number); }

  /// Lines are pairs of texts with a tab between them.
  void readPairs() { hasPairs = true; }
  /// The lines of the file of targets are the second texts of pairs.
  void pairWithTargets() { areTargetsPairs = true; }
  /// Each line is the second text of a pair with this one.
  void pairWith(std::string text) { first = std::move(text); }

  /// Calls this with each line that a source is asked for, "" for one that
  /// cannot be read, in the thread that asks.
  void onLine(std::function<void(const std::string &line)> listener) {
    listens = std::move(listener);
  }

  /// Borrows this object.
  heddle_source source();

private:
  InputLines(LineReader lines, std::optional<LineReader> targets, size_t count)
      : lines(std::move(lines)), targets(std::move(targets)), count(count) {}

  Status readTarget();
  Status checkTargetsEnd();
  heddle_next readInput(bool mayWait, heddle_input &input);
  heddle_next setTexts(heddle_input &input);

  LineReader lines;
  std::optional<LineReader> targets;
  /// 0 if nobody knows.
  size_t count;
  bool hasPairs = false, areTargetsPairs = false;
  std::optional<std::string> first;
  std::function<void(const std::string &line)> listens;
  /// What was read last.
  std::string text, target;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_INPUTLINES_H
