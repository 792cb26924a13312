//===- AnswerLines.h - How answers are printed ------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUN_ANSWERLINES_H
#define HEDDLE_TOOLS_RUN_ANSWERLINES_H

#include "runtime/heddle.h"
#include "tools/run/RunOptions.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heddle {

/// The lines of an input, from 0: the text of its answer, with its score in
/// front, or its n best as Moses prints them.
std::string formatAnswers(int64_t number, const heddle_answer_text *answers,
                          size_t count, const RunOptions &options);

/// The line of a target that was scored: log-probability, tab, those of its
/// tokens. Empty if there is none.
std::string formatScores(const heddle_answer_text *answers, size_t count);

/// A number in as few digits as give the same float again.
std::string formatNumber(float number);

/// A line of a ranking. Numbers are from 0.
struct RankedLine {
  int64_t line;
  float score;
  /// None if nobody has it.
  std::optional<std::string> text = {};
  /// That of its query, if there may be several.
  std::optional<int64_t> query = {};
};
/// One JSON object, or, if it is plain, score and text with a tab between them:
/// the number of the query in front of it, and the line's in place of a text.
std::string formatRankedLine(const RankedLine &ranked, bool isPlain);

/// What is left of a text in one line.
std::string oneLine(std::string_view text);

/// The perplexity of all targets that were scored, in one sentence.
class Perplexity {
public:
  void add(const heddle_answer_text &answer);
  std::string describe() const;

private:
  double sum = 0;
  int64_t tokens = 0;
};

/// A JSON string, with U+FFFD in place of what is no UTF-8.
std::string quoteJson(std::string_view text);
/// A JSON number, null for what is none.
std::string formatJsonNumber(float value);

} // namespace heddle

#endif // HEDDLE_TOOLS_RUN_ANSWERLINES_H
