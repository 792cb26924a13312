//===- QuestionAnswers.h - Answers that stand in a text ---------*- C++ -*-===//
//
// The job of models that answer questions (SQuAD): a line is a question and a
// text, and the answer is a part of that text. A long text is read in windows.
// It is what the pipeline "question-answering" of transformers 4.57.6 does.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_QUESTIONANSWERS_H
#define HEDDLE_RUNTIME_LINES_QUESTIONANSWERS_H

#include "runtime/Result.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/TextJob.h"
#include "runtime/lines/TextReading.h"
#include "runtime/lines/Workers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle {

/// How questions are answered.
struct AnswerOptions : TextOptions {
  /// How many answers a question gets at most.
  int64_t top = 1;
  /// The most tokens of an answer.
  int64_t longest = 15;
  /// That there is none is an answer, too.
  bool mayBeNone = false;
};

/// What two windows have in common if nobody says it, unless that is more than
/// half of a window.
inline constexpr int64_t kAnswerStride = 128;

/// A part of a text that may answer a question: a whole number of words. Its
/// score is the probability that it begins and ends there, summed over all
/// places with the same words, in small or capital letters.
struct TextAnswer {
  /// Empty if there is no answer.
  std::string text;
  double score;
  TextRange bytes, characters;
};

/// Candidates of lines that are pairs, as answers. Borrows all that it is made
/// of.
std::unique_ptr<TextJob> makeAnswerJob(const Model &model,
                                       const AnswerOptions &options,
                                       const LineSource &source);

/// The answers that the candidates of all windows of a line make.
std::vector<TextAnswer> takeAnswers(LineAnswer &line,
                                    const AnswerOptions &options);

/// Takes the answers to consecutive lines, in order, the best ones first, which
/// may be none; null for a line that has failed. `notice` is what LineAnswer
/// says. Called by one thread at a time, and `flush` behind what was ready
/// together.
struct TextAnswerWriter {
  std::function<Status(const std::vector<TextAnswer> *answers,
                       const std::string &notice)>
      write;
  std::function<Status()> flush;
};

/// Answers each line, a pair of a question and a text. Errors name the line, or
/// are those of runTask.
Status answerLines(const Workers &workers, const LineRunOptions &options,
                   const AnswerOptions &answer, LineSource &source,
                   const TextAnswerWriter &writer);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_QUESTIONANSWERS_H
