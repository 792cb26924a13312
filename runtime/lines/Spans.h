//===- Spans.h - Spans of text from labels of tokens ------------*- C++ -*-===//
//
// What the pipeline "token-classification" of transformers 4.57.6 makes of a
// tagger's scores: tokens become words, if it is asked to, and neighbours with
// one label a span. Labels may begin with "B-", which begins a span, or "I-".
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_SPANS_H
#define HEDDLE_RUNTIME_LINES_SPANS_H

#include "runtime/lines/Labels.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// A token of a text, with the score of each label.
struct ScoredToken {
  int32_t token, id;
  TokenPlace place;
  std::vector<float> scores;
};

/// The spans of a text, in order, without those of the label "O", which is
/// outside of all. A span has the number of its first label, the token where it
/// begins, the place of all its tokens, and the mean of their scores. A word
/// has the best label of its first token, of the mean of its tokens, or of the
/// token that is most certain.
std::vector<Label> findSpans(const std::vector<ScoredToken> &tokens,
                             const std::vector<std::string> &labels,
                             Aggregation aggregation);

/// The spans of a text in windows that overlap, window by window: of spans that
/// begin inside another one only the longest, or else the most certain. A span
/// may be empty: the space of a piece is no part of its place.
std::vector<Label> withoutOverlaps(const std::vector<Label> &spans);

/// A label without what says where in a span it stands.
std::string_view nameOfSpan(std::string_view label);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_SPANS_H
