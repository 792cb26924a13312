//===- SpanTests.cpp - Spans of text from labels of tokens ----------------===//
//
// Tokens with scores that are written down here. What whole models give is
// compared with transformers in test/execution/heads.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Spans.h"
#include "gtest/gtest.h"

using namespace heddle;

static const std::vector<std::string> kLabels = {"O", "B-PER", "I-PER", "I-LOC",
                                                 "MISC"};

/// A token of two characters, and whether it continues a word.
static ScoredToken tokenAt(int32_t number, std::vector<float> scores,
                           bool continuesWord = false) {
  uint32_t begin = 3 * uint32_t(number);
  TokenPlace place = {{begin, begin + 2}, {begin, begin + 2}, true};
  place.continuesWord = continuesWord;
  return {number, 100 + number, place, std::move(scores)};
}

/// "PER 0..5 0.8", one a span.
static std::string describe(const std::vector<ScoredToken> &tokens,
                            Aggregation aggregation) {
  std::string text;
  for (const Label &label : findSpans(tokens, kLabels, aggregation)) {
    std::string_view name = kLabels[size_t(label.id)];
    char line[64];
    snprintf(
        line, sizeof line, "%s%s %u..%u %.3g", text.empty() ? "" : ", ",
        std::string(aggregation == Aggregation::None ? name : nameOfSpan(name))
            .c_str(),
        label.place.characters.begin, label.place.characters.end,
        double(label.score));
    text += line;
  }
  return text;
}

TEST(Spans, begin_where_a_label_says_so) {
  const std::vector<ScoredToken> tokens = {
      tokenAt(0, {0, .8f, .1f, 0, 0}), tokenAt(1, {0, .1f, .6f, 0, 0}),
      tokenAt(2, {0, .9f, 0, 0, 0}),   tokenAt(3, {0, 0, 0, .5f, 0}),
      tokenAt(4, {1, 0, 0, 0, 0}),     tokenAt(5, {0, 0, 0, .7f, .1f}),
      tokenAt(6, {0, 0, 0, 0, .4f}),   tokenAt(7, {0, 0, 0, 0, .6f})};
  EXPECT_EQ(describe(tokens, Aggregation::None),
            "B-PER 0..2 0.8, I-PER 3..5 0.6, B-PER 6..8 0.9, I-LOC 9..11 0.5, "
            "I-LOC 15..17 0.7, MISC 18..20 0.4, MISC 21..23 0.6");
  EXPECT_EQ(describe(tokens, Aggregation::Simple),
            "PER 0..5 0.7, PER 6..8 0.9, LOC 9..11 0.5, LOC 15..17 0.7, "
            "MISC 18..23 0.5");
  EXPECT_EQ(describe({}, Aggregation::Simple), "");
}

TEST(Spans, are_of_whole_words) {
  // A word of three tokens behind one of one, whose first token is a word's.
  const std::vector<ScoredToken> tokens = {
      tokenAt(0, {.1f, .6f, .3f, 0, 0}, /*continuesWord=*/true),
      tokenAt(1, {.5f, 0, .4f, 0, .1f}),
      tokenAt(2, {.1f, 0, .2f, .7f, 0}, /*continuesWord=*/true),
      tokenAt(3, {.3f, 0, .6f, .1f, 0}, /*continuesWord=*/true)};
  EXPECT_EQ(describe(tokens, Aggregation::First), "PER 0..2 0.6");
  EXPECT_EQ(describe(tokens, Aggregation::Average), "PER 0..11 0.5");
  EXPECT_EQ(describe(tokens, Aggregation::Max), "PER 0..2 0.6, LOC 3..11 0.7");
  EXPECT_EQ(describe(tokens, Aggregation::Simple),
            "PER 0..2 0.6, LOC 6..8 0.7, PER 9..11 0.6");
}
