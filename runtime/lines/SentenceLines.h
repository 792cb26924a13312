//===- SentenceLines.h - Running text, a sentence at a time -----*- C++ -*-===//
//
// Models are trained on sentences. Lines of running text are cut into those,
// each of which runs as a line of its own, in a batch with others of its
// length; and their answers are joined again, with the white space in front,
// between and behind that the line had there, byte for byte.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_SENTENCELINES_H
#define HEDDLE_RUNTIME_LINES_SENTENCELINES_H

#include "runtime/lines/LineRun.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/SentenceSplitter.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace heddle {

/// The sentences of lines. Borrows their source. A line of ids, or of whose
/// target something is said, is a failure: it is a whole.
class SentenceLines : public LineSource {
public:
  explicit SentenceLines(LineSource &lines,
                         SplitRules rules = SplitRules::AllScripts)
      : lines(lines), rules(rules) {}

  /// The sentences of whole lines: as many lines as `limits` allow, one at
  /// least.
  Lines next(const LineLimits &limits) override;
  void interrupt() override { lines.interrupt(); }
  /// "sentence 2 of line 3 of standard input", as long as that line has no
  /// answer.
  std::string nameOf(int64_t number) const override;

  /// Takes the answers of sentences, the first text of each, and gives `write`
  /// those of lines, once all their sentences have one: a text, or none if it
  /// is empty. A line of which a sentence has failed has
  /// failed: a text without it would say something else. Borrows this object.
  AnswerWriter joining(AnswerWriter write);

private:
  struct OpenLine {
    /// The number of its first sentence.
    int64_t first;
    /// What stands behind each sentence.
    std::vector<std::string> spaces;
    /// Begins with what stands in front of the first one.
    std::string answer;
    /// As LineAnswer has them.
    std::string notice = {};
    bool hasFailed = false;
  };
  void add(std::string_view line, std::vector<Line> &sentences);
  bool join(LineAnswer &sentence, LineAnswer &joined);

  LineSource &lines;
  const SplitRules rules;
  /// Guards all that follows. Never held while the source works.
  mutable std::mutex mutex;
  /// Those without an answer, in order.
  std::deque<OpenLine> open;
  /// Lines and sentences that have one, and that were read.
  int64_t linesAnswered = 0, sentencesAnswered = 0;
  int64_t linesRead = 0, sentencesRead = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_SENTENCELINES_H
