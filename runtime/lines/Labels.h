//===- Labels.h - Labels of texts, of tokens and of masks -------*- C++ -*-===//
//
// The jobs of classifiers, of taggers and of models that guess masked tokens:
// each line gets the best labels of one place or of several, with their scores.
// A guessed token is a label, too.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LABELS_H
#define HEDDLE_RUNTIME_LINES_LABELS_H

#include "runtime/Result.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/TextJob.h"
#include "runtime/lines/TextReading.h"
#include "runtime/lines/Workers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// How a tagger's labels of tokens become labels of spans: see Spans.h. None
/// leaves them to tokens, and leaves those out that are outside of all spans.
enum class Aggregation { None, Simple, First, Average, Max };

/// How lines are labelled.
struct LabelOptions : TextOptions {
  /// How many labels a place gets at most; absent for all of a text, one of a
  /// token and kMaskGuesses of a mask.
  std::optional<int64_t> top;
  /// Of taggers; absent for the labels of all tokens, whatever they are.
  std::optional<Aggregation> aggregation;
};

/// transformers' fill-mask pipeline gives as many.
inline constexpr int64_t kMaskGuesses = 5;

/// Labels of lines by a task that the model has: classify, tag or fill. Borrows
/// all that it is made of.
std::unique_ptr<TextJob> makeLabelJob(const Model &model, Role task,
                                      const LabelOptions &options,
                                      const LineSource &source);

/// The labels of an answer of its, with windows that overlap put together. The
/// spans of one window may overlap, and stay.
std::vector<Label> takeLabels(LineAnswer &line, const LabelOptions &options);

/// Takes the labels of consecutive lines, in order, place by place and the best
/// ones first, which may be none; null for a line that has failed. `notice` is
/// what LineAnswer says. Called by one thread at a time, and `flush` behind
/// what was ready together.
struct LabelWriter {
  std::function<Status(const std::vector<Label> *labels,
                       const std::string &notice)>
      write;
  std::function<Status()> flush;
};

/// Labels each line by a task that the model has: classify, tag or fill. Labels
/// of a tagger are those of a text's own tokens, or of all tokens if lines are
/// ids. Errors name the line, or are those of runTask.
Status labelLines(const Workers &workers, const LineRunOptions &options,
                  Role task, const LabelOptions &label, LineSource &source,
                  const LabelWriter &writer);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LABELS_H
