//===- Answer.h - What a job answers to a line ------------------*- C++ -*-===//
//
// Answers travel from a job (LineRun.h) to the writer of its lines as lists of
// what that writer takes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_ANSWER_H
#define HEDDLE_RUNTIME_LINES_ANSWER_H

#include "runtime/session/SourceInputs.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {

/// Which source tokens the tokens of a text come from: of both those that the
/// texts are made of, numbered from 0, or all if texts are ids.
struct Alignment {
  /// A token of the source and one of the text, in turn: of each token of the
  /// text, in their order, the one that it attended to most.
  std::vector<int32_t> pairs = {};
  /// What they attended to, [tokens of the text, tokens of the source]; sums of
  /// rows are below 1 where special tokens have the rest.
  std::vector<float> attention = {};
  int64_t sourceTokens = 0;
};

/// A text that was generated, or a target that was scored.
struct AnswerText {
  std::string text;
  std::vector<int32_t> tokens = {};
  /// The sum of log-probabilities, and what hypotheses are ordered by.
  float sum = 0, score = 0;
  /// One a token, or none.
  std::vector<float> logProbabilities = {};
  /// Empty unless somebody wants it.
  Alignment alignment = {};
};

/// One of the labels of a place.
struct Label {
  /// The number of a label, or the id of a token that is guessed.
  int32_t id;
  float score;
  /// The token that it is about, by its number and by its id; the first one for
  /// labels of a whole text.
  int32_t token, tokenId;
  TokenPlace place;
};

/// A part of a text with its probability in one window, or with `isNone` how
/// probable the window finds it that there is no answer.
struct AnswerCandidate {
  double score;
  TextRange bytes, characters;
  bool isNone;
};

/// The answer to a sentence, by its job: texts, the best first; a vector;
/// labels, place by place; candidates of a question's answer.
using Answer = std::variant<std::vector<AnswerText>, std::vector<float>,
                            std::vector<Label>, std::vector<AnswerCandidate>>;

/// The list of a job's answer; empty if there is no answer.
template <typename T> std::vector<T> takeList(Answer &answer) {
  auto *list = std::get_if<std::vector<T>>(&answer);
  return list ? std::move(*list) : std::vector<T>();
}

/// Puts the answer to a window behind that of the ones before it, of the same
/// job; either may be none.
inline void append(Answer &answer, Answer more) {
  auto appendList = [&](auto &list) {
    auto *all = std::get_if<std::decay_t<decltype(list)>>(&answer);
    if (all)
      std::move(list.begin(), list.end(), std::back_inserter(*all));
    else if (!list.empty())
      answer = std::move(list);
  };
  std::visit(appendList, more);
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_ANSWER_H
