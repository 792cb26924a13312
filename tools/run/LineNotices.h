//===- LineNotices.h - What is said of lines that fail ----------*- C++ -*-===//
//
// With --on-error a run goes on behind lines that the model cannot take. Nobody
// should miss that: the first ones are named on standard error, and all are
// counted there at the end.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_RUN_LINENOTICES_H
#define HEDDLE_TOOLS_RUN_LINENOTICES_H

#include "runtime/heddle.h"

#include <cstdint>
#include <string>

namespace heddle {

/// The notices of one run. One thread at a time.
class LineNotices {
public:
  /// Takes a sentence about the line that is next.
  void add(const std::string &sentence) { waiting = sentence; }
  /// Counts a line, which has an answer or not; true if it was skipped.
  bool count(bool hasAnswer);
  /// A line that was counted is skipped after all.
  void skipCounted(const std::string &sentence);
  /// Says how many lines were skipped and cut, if any were.
  void report() const;

private:
  void name(const std::string &sentence, bool isSkipped);

  int64_t lines = 0, skipped = 0, cut = 0, named = 0;
  /// What is said of the line that is next.
  std::string waiting;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_LINENOTICES_H
