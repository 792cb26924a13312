//===- SentenceLinesTests.cpp - Sentences in, whole lines out -------------===//

#include "runtime/lines/SentenceLines.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

class GivenLines : public LineSource {
public:
  explicit GivenLines(std::vector<std::string> texts)
      : texts(std::move(texts)) {}
  Lines next(const LineLimits &limits) override {
    Lines result;
    while (at < texts.size() && int64_t(result.lines.size()) < limits.lines)
      result.lines.push_back({{texts[at++]}});
    result.last = at == texts.size();
    return result;
  }
  std::string nameOf(int64_t number) const override {
    return "line " + std::to_string(number + 1);
  }

private:
  std::vector<std::string> texts;
  size_t at = 0;
};

std::vector<std::string> textsOf(const Lines &lines) {
  std::vector<std::string> texts;
  for (const Line &line : lines.lines)
    texts.push_back(line.source.text);
  return texts;
}

using Texts = std::vector<std::string>;
using Answered = std::vector<LineAnswer>;

Answered answered(const Texts &texts) {
  Answered answers;
  for (const std::string &text : texts)
    answers.emplace_back(std::vector<AnswerText>{{text}});
  return answers;
}

std::string textOf(const LineAnswer &line) {
  auto &texts = std::get<std::vector<AnswerText>>(line.answer);
  return texts.empty() ? "" : texts[0].text;
}

TEST(SentenceLinesTest, JoinsWhatItCut) {
  GivenLines given({"One.  Two.", "", "  Three.\tFour? ", "Five"});
  SentenceLines sentences(given);
  Lines first = sentences.next({3, 1000});
  EXPECT_FALSE(first.last);
  EXPECT_EQ(textsOf(first), (Texts{"One.", "Two.", "", "Three.", "Four?"}));
  Lines second = sentences.next({3, 1000});
  EXPECT_TRUE(second.last);
  EXPECT_EQ(textsOf(second), Texts{"Five"});

  Texts written;
  AnswerWriter write = sentences.joining([&](const Answered &answers) {
    for (const LineAnswer &answer : answers)
      written.push_back(textOf(answer));
    return Status::success();
  });
  ASSERT_TRUE(write(answered({"1."})).ok());
  EXPECT_TRUE(written.empty());
  ASSERT_TRUE(write(answered({"2.", "", "3."})).ok());
  EXPECT_EQ(written, (Texts{"1.  2.", ""}));
  EXPECT_EQ(sentences.nameOf(3), "sentence 1 of line 3");
  EXPECT_EQ(sentences.nameOf(4), "sentence 2 of line 3");
  EXPECT_EQ(sentences.nameOf(5), "sentence 1 of line 4");
  ASSERT_TRUE(write(answered({"4?", "5"})).ok());
  EXPECT_EQ(written, (Texts{"1.  2.", "", "  3.\t4? ", "5"}));
}

TEST(SentenceLinesTest, KeepsWhiteSpaceByteForByte) {
  Texts texts = {" ", "\r", "\t一。二。\u3000\u00a0三 \r", "\u00a0",
                 "一.\n\n二"};
  GivenLines given(texts);
  SentenceLines sentences(given);
  EXPECT_EQ(textsOf(sentences.next({9, 1000})),
            (Texts{"", "", "一。", "二。", "三", "", "一.", "二"}));
  Texts written;
  AnswerWriter write = sentences.joining([&](const Answered &answers) {
    for (const LineAnswer &answer : answers)
      written.push_back(textOf(answer));
    return Status::success();
  });
  // An end of a line in an answer is no end of the text's.
  ASSERT_TRUE(write(answered({"", "", "1.\n", "2.", "3", "", "1.", "2"})).ok());
  EXPECT_EQ(written,
            (Texts{" ", "\r", "\t1. 2.\u3000\u00a03 \r", "\u00a0", "1.\n\n2"}));
}

TEST(SentenceLinesTest, CutsAsBrowsersDo) {
  GivenLines given({"一。二. 三"});
  SentenceLines sentences(given, SplitRules::Browser);
  EXPECT_EQ(textsOf(sentences.next({9, 1000})), (Texts{"一。二.", "三"}));
}

TEST(SentenceLinesTest, FailsAsItsWriterDoes) {
  GivenLines given({"One. Two."});
  SentenceLines sentences(given);
  sentences.next({1, 1000});
  AnswerWriter write =
      sentences.joining([](const Answered &) { return Status::error("full"); });
  EXPECT_TRUE(write(answered({"1."})).ok());
  EXPECT_EQ(write(answered({"2."})).message(), "full");
}

// A line fails with its first sentence that does; one that is cut is told of
// nevertheless.
TEST(SentenceLinesTest, NoticesAreOfLines) {
  GivenLines given({"One. Two. Three. Four.", "Five. Six.", "Seven."});
  SentenceLines sentences(given);
  sentences.next({3, 1000});
  Answered written;
  AnswerWriter write = sentences.joining([&](const Answered &answers) {
    written.insert(written.end(), answers.begin(), answers.end());
    return Status::success();
  });
  Answered answers = answered({"1.", "2.", "", "", "5.", "6.", "7."});
  answers[1].notice = "2 is cut";
  answers[2].notice = "3 fails";
  answers[3].notice = "4 fails";
  answers[2].hasFailed = answers[3].hasFailed = true;
  answers[4].notice = "5 is cut";
  answers[5].notice = "6 is cut";
  ASSERT_TRUE(write(answers).ok());
  ASSERT_EQ(written.size(), 3u);
  EXPECT_EQ(textOf(written[0]), "");
  EXPECT_EQ(written[0].notice, "3 fails");
  EXPECT_TRUE(written[0].hasFailed);
  EXPECT_EQ(textOf(written[1]), "5. 6.");
  EXPECT_EQ(written[1].notice, "5 is cut");
  EXPECT_FALSE(written[1].hasFailed);
  EXPECT_EQ(textOf(written[2]), "7.");
  EXPECT_EQ(written[2].notice, "");
}

} // namespace
