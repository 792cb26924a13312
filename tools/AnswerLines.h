//===- AnswerLines.h - How answers are printed ------------------*- C++ -*-===//
//
// A line for each input line, with a score in front where it is asked for; or
// the n best as Marian and Moses print them, numbered by their input line.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_ANSWERLINES_H
#define HEDDLE_TOOLS_ANSWERLINES_H

#include "runtime/Generate.h"
#include "runtime/LineTokens.h"
#include "tools/RunOptions.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

/// What is printed of the hypotheses of a line, but for the line's number: a
/// line each, without the last end.
std::string formatAnswer(const LineTokens &tokens,
                         const std::vector<Hypothesis> &hypotheses,
                         const RunOptions &options);

/// The lines as they are printed. An empty answer is that of an input line
/// without a token.
std::string numberAnswer(int64_t number, const std::string &answer,
                         const RunOptions &options);

/// Their sum, a tab, and each of them: the log-probabilities of a target.
std::string formatScores(const std::vector<float> &scores);

/// The perplexity of targets, exp of the mean of -log p over all tokens, from
/// what formatScores wrote of them. The order of addition counts.
class Perplexity {
public:
  /// An empty answer, of a line without a token, counts nothing.
  void add(const std::string &answer);
  /// "perplexity 6.12 (cross-entropy 1.811 nats a token, 120 tokens)".
  std::string describe() const;

private:
  double sum = 0;
  int64_t tokens = 0;
};

} // namespace heddle

#endif // HEDDLE_TOOLS_ANSWERLINES_H
