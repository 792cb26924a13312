//===- Translation.h - Text to text -----------------------------*- C++ -*-===//
//
// The jobs of a translator: lines become lines, or are scored beside given
// targets.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_TRANSLATION_H
#define HEDDLE_RUNTIME_LINES_TRANSLATION_H

#include "runtime/Result.h"
#include "runtime/lines/LineRun.h"
#include "runtime/lines/LineTokens.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/Workers.h"
#include "runtime/search/Generate.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Makes the answer to a line of what was found, on any thread; the best
/// hypothesis as text is LineTokens::text(hypotheses.front().tokens).
using HypothesesFormat =
    std::function<Answer(const std::vector<Hypothesis> &hypotheses)>;

/// How lines are translated.
struct TranslationOptions {
  const LineTokens &tokens;
  const SearchOptions &search;
  const HypothesesFormat &format;
  /// How each other member of an ensemble reads lines.
  const std::vector<LineTokens> &others;
};

/// Writes the translation of each line, in order. What a line says of its
/// target is what that begins with. Errors name the line, or are those of
/// generate.
Status translateLines(const Workers &workers, const LineRunOptions &options,
                      const TranslationOptions &translation, LineSource &source,
                      const AnswerWriter &write);

/// Makes the answer to a line of its target and of the log-probabilities of
/// that, one a token.
using ScoresFormat = std::function<Answer(
    const TokenIds &target, const std::vector<float> &logProbabilities)>;

/// How lines are scored.
struct ScoreOptions {
  const LineTokens &tokens;
  const ScoresFormat &format;
  /// Of a model that continues texts: those longer than its positions are
  /// scored in windows, of which each has so many tokens of the one before it.
  std::optional<int64_t> overlap = {};
  /// As TranslationOptions has them.
  const std::vector<LineTokens> &others;
};

/// Writes how likely the target of each line is, as scoreTokens says.
Status scoreLines(const Workers &workers, const LineRunOptions &options,
                  const ScoreOptions &scores, LineSource &source,
                  const AnswerWriter &write);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_TRANSLATION_H
