//===- SentenceSplitterTests.cpp - Sentences of running text --------------===//
//
// What is expected of ASCII letters is what native Bergamot 0.4.5 returns as
// the sentences of its source in paragraph mode.
//
//===----------------------------------------------------------------------===//

#include "runtime/SentenceSplitter.h"

#include <gtest/gtest.h>
#include <string>

using namespace heddle;

namespace {

/// The sentences with a bar between them.
std::string split(std::string_view text) {
  std::string result;
  for (const SentenceSpan &sentence : splitSentences(text))
    result += (result.empty() ? "" : "|") + std::string(sentence.text);
  return result;
}

TEST(SentenceSplitterTest, EndsWhereSpaceFollows) {
  EXPECT_EQ(split("One two. Three? Four! Five"), "One two.|Three?|Four!|Five");
  EXPECT_EQ(split("Version 2.5 costs 1.000,50 at a.b.org?x=1 now."),
            "Version 2.5 costs 1.000,50 at a.b.org?x=1 now.");
  EXPECT_EQ(split("What?! No... Yes."), "What?!|No...|Yes.");
  EXPECT_EQ(split("漢字. 漢字"), "漢字.|漢字");
}

TEST(SentenceSplitterTest, GoesOnBeforeSmallLetters) {
  EXPECT_EQ(split("It cost e.g. ten, i.e. \"too much\" etc. and so on. Ça va."),
            "It cost e.g. ten, i.e. \"too much\" etc. and so on.|Ça va.");
  EXPECT_EQ(split("Who? (he asked.) État. été."),
            "Who? (he asked.)|État. été.");
  // Behind an accent of its own, as well.
  EXPECT_EQ(split("A. \u0301a. \u0301B."), "A. \u0301a.|\u0301B.");
}

TEST(SentenceSplitterTest, BeginsWithCapitalsNumbersAndSigns) {
  EXPECT_EQ(split("Mr. Smith has no. 5. $4 is it. — ¿Qué?"),
            "Mr.|Smith has no.|5.|$4 is it.|— ¿Qué?");
}

TEST(SentenceSplitterTest, TakesWhatCloses) {
  EXPECT_EQ(split("\"Go.\" He went.’” (So.) [He did.] Now"),
            "\"Go.\"|He went.’”|(So.)|[He did.]|Now");
  EXPECT_EQ(split("So it is.[1,2] Or.[12]\" Not so.[1] Now"),
            "So it is.[1,2]|Or.[12]\"|Not so.[1] Now");
}

TEST(SentenceSplitterTest, LeavesQuotationsWhole) {
  EXPECT_EQ(split("He said [...] - nothing. She [...] Nothing."),
            "He said [...] - nothing.|She [...]|Nothing.");
}

TEST(SentenceSplitterTest, KeepsWhiteSpace) {
  std::vector<SentenceSpan> sentences =
      splitSentences(" \tOne.  Two.\t\tThree \n");
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_EQ(sentences[0].text, "One.");
  EXPECT_EQ(sentences[0].space, "  ");
  EXPECT_EQ(sentences[1].space, "\t\t");
  EXPECT_EQ(sentences[2].text, "Three");
  EXPECT_EQ(sentences[2].space, " \n");
  EXPECT_TRUE(splitSentences(" \t ").empty());
  EXPECT_TRUE(splitSentences("").empty());
  // White space of other scripts belongs to words: it is there to hold them
  // together.
  EXPECT_EQ(split("M.\u00a0Dupont. Fin."), "M.\u00a0Dupont.|Fin.");
}

TEST(SentenceSplitterTest, ReadsDamagedText) {
  EXPECT_EQ(split("A\xff. \xc3. B\xe2\x80"), "A\xff.|\xc3.|B\xe2\x80");
}

} // namespace
