//===- SentenceSplitterTests.cpp - Sentences of running text --------------===//
//
// What browsers' rules make of ASCII letters is what native Bergamot 0.4.5
// returns as the sentences of its source in paragraph mode. What stands in
// other scripts ends where Unicode's annex 29 ends it, but for what is said
// here.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/SentenceSplitter.h"

#include <gtest/gtest.h>
#include <string>

using namespace heddle;

namespace {

/// The sentences with a bar between them.
std::string split(std::string_view text, SplitRules rules) {
  std::string result;
  for (const SentenceSpan &sentence : splitSentences(text, rules))
    result += (result.empty() ? "" : "|") + std::string(sentence.text);
  return result;
}

/// As browsers, where the rules of all scripts say the same.
std::string split(std::string_view text) {
  std::string found = split(text, SplitRules::Browser);
  EXPECT_EQ(split(text, SplitRules::AllScripts), found);
  return found;
}

std::string splitAll(std::string_view text) {
  return split(text, SplitRules::AllScripts);
}

/// A text, and what is left of it in pieces, white space included.
void expectWhole(std::string_view text) {
  for (SplitRules rules : {SplitRules::Browser, SplitRules::AllScripts}) {
    std::vector<SentenceSpan> sentences = splitSentences(text, rules);
    if (sentences.empty())
      continue;
    std::string joined;
    for (const SentenceSpan &sentence : sentences) {
      EXPECT_FALSE(sentence.text.empty()) << text;
      joined.append(sentence.text).append(sentence.space);
    }
    size_t before = size_t(sentences[0].text.data() - text.data());
    EXPECT_EQ(std::string(text.substr(0, before)) + joined, text);
  }
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
  for (SplitRules rules : {SplitRules::Browser, SplitRules::AllScripts}) {
    std::vector<SentenceSpan> sentences =
        splitSentences(" \tOne.  Two.\t\tThree \r", rules);
    ASSERT_EQ(sentences.size(), 3u);
    EXPECT_EQ(sentences[0].text, "One.");
    EXPECT_EQ(sentences[0].space, "  ");
    EXPECT_EQ(sentences[1].space, "\t\t");
    EXPECT_EQ(sentences[2].text, "Three");
    EXPECT_EQ(sentences[2].space, " \r");
    EXPECT_TRUE(splitSentences(" \t ", rules).empty());
    EXPECT_TRUE(splitSentences("", rules).empty());
  }
  // A no-break space holds words together, and belongs to the white space where
  // other white space stands beside it.
  EXPECT_EQ(split("M.\u00a0Dupont. Fin."), "M.\u00a0Dupont.|Fin.");
  std::vector<SentenceSpan> sentences =
      splitSentences("\u3000一.\u3000二. \u00a0三.\u00a0 四.\u2003");
  ASSERT_EQ(sentences.size(), 4u);
  EXPECT_EQ(sentences[0].text, "一.");
  EXPECT_EQ(sentences[0].space, "\u3000");
  EXPECT_EQ(sentences[1].space, " \u00a0");
  EXPECT_EQ(sentences[2].space, "\u00a0 ");
  EXPECT_EQ(sentences[3].space, "\u2003");
  EXPECT_TRUE(splitSentences("\u3000\u00a0 ").empty());
}

TEST(SentenceSplitterTest, EndsAtTheFullStopsOfAllScripts) {
  // Chinese and Japanese, with and without white space.
  EXPECT_EQ(splitAll("我来了。你呢？我们走吧！好"),
            "我来了。|你呢？|我们走吧！|好");
  EXPECT_EQ(splitAll("はい。　いいえ｡そう!?」"), "はい。|いいえ｡|そう!?」");
  EXPECT_EQ(splitAll("本当！？はい。。。うん"), "本当！？|はい。。。|うん");
  // Arabic and Urdu.
  EXPECT_EQ(splitAll("كيف حالك؟ أنا بخير. شكرا!"), "كيف حالك؟|أنا بخير.|شكرا!");
  EXPECT_EQ(splitAll("میں ٹھیک ہوں۔ آپ؟جی۔"), "میں ٹھیک ہوں۔|آپ؟|جی۔");
  // Hindi, Armenian, Ethiopic, Burmese, Khmer.
  EXPECT_EQ(splitAll("वह गया। वह आया।राम ॥ २ ॥"), "वह गया।|वह आया।|राम ॥|२ ॥");
  EXPECT_EQ(splitAll("Այո։ Ես գիտեմ։ոչ"), "Այո։|Ես գիտեմ։|ոչ");
  EXPECT_EQ(splitAll("ሰላም። እንዴት ነህ፧ደህና፨"), "ሰላም።|እንዴት ነህ፧|ደህና፨");
  EXPECT_EQ(splitAll("မင်္ဂလာပါ။ နေကောင်းလား။"), "မင်္ဂလာပါ။|နေကောင်းလား။");
  EXPECT_EQ(splitAll("បាទ។ ទេ៕"), "បាទ។|ទេ៕");
  // Browsers know . ? ! alone.
  EXPECT_EQ(split("我来了。 你呢？ 好", SplitRules::Browser),
            "我来了。 你呢？ 好");
}

TEST(SentenceSplitterTest, TakesWhatClosesInAllScripts) {
  EXPECT_EQ(splitAll("“你好。”他说。（是的。）【好！】走"),
            "“你好。”|他说。|（是的。）|【好！】|走");
  EXPECT_EQ(splitAll("「はい。」彼は来た。『うん。』」終"),
            "「はい。」|彼は来た。|『うん。』」|終");
  EXPECT_EQ(splitAll("«Այո։» Նա գնաց։ (Լավ։) Ոչ"), "«Այո։»|Նա գնաց։|(Լավ։)|Ոչ");
  EXPECT_EQ(splitAll("«كيف حالك؟» قال. (نعم.) لا"),
            "«كيف حالك؟»|قال.|(نعم.)|لا");
  EXPECT_EQ(splitAll("\"वह गया।\" उसने कहा। \"हाँ।\"राम"),
            "\"वह गया।\"|उसने कहा।|\"हाँ।\"|राम");
  // A mark that opens belongs to what follows.
  EXPECT_EQ(splitAll("他说。“好。”我说。\"好。\"走"),
            "他说。|“好。”|我说。|\"好。\"|走");
  EXPECT_EQ(splitAll("それは本だ。[1,2]次"), "それは本だ。[1,2]|次");
  // German closes with what English opens with.
  EXPECT_EQ(splitAll("„Geh.“ Er ging. »So.« Dann. “Go on.” He did."),
            "„Geh.“|Er ging.|»So.«|Dann.|“Go on.”|He did.");
}

TEST(SentenceSplitterTest, GoesOnInAllScripts) {
  EXPECT_EQ(splitAll("“你好。”，他说。"), "“你好。”，他说。");
  EXPECT_EQ(splitAll("「はい。」と言った。「いや。」って。"),
            "「はい。」と言った。|「いや。」って。");
  EXPECT_EQ(splitAll("第３．１４章．次"), "第３．１４章．|次");
  EXPECT_EQ(splitAll("人口は3.14億人。"), "人口は3.14億人。");
  EXPECT_EQ(splitAll("See www.example.org。好"), "See www.example.org。|好");
}

TEST(SentenceSplitterTest, EndsWhereALineEnds) {
  std::vector<SentenceSpan> sentences =
      splitSentences("Title\r\n\r\nOne. Two \nthree\u2028four\n");
  ASSERT_EQ(sentences.size(), 5u);
  EXPECT_EQ(sentences[0].text, "Title");
  EXPECT_EQ(sentences[0].space, "\r\n\r\n");
  EXPECT_EQ(sentences[2].text, "Two");
  EXPECT_EQ(sentences[2].space, " \n");
  EXPECT_EQ(sentences[3].space, "\u2028");
  EXPECT_EQ(sentences[4].space, "\n");
  EXPECT_EQ(split("One\ntwo. Three", SplitRules::Browser), "One\ntwo.|Three");
}

TEST(SentenceSplitterTest, LosesNothing) {
  for (const char *text :
       {" One. Two! ", "。。", "\"", "。\"", "“”。“”", ".”“ ", "\n.\n",
        "\u00a0a.\u00a0", "a。\u00a0b", "[1,2]", "。[1,2] [3,4]x",
        "\xff。\xe3\x80", "a.\u3000b. c\u00a0"})
    expectWhole(text);
  // Every place of every sign beside every other one.
  const char *parts[] = {"a", "B", "1", ".",      "。", "\"", "“",   "”",
                         "(", ")", " ", "\u00a0", "\n", "，", "\xff"};
  for (const char *one : parts)
    for (const char *two : parts)
      for (const char *three : parts)
        for (const char *four : parts)
          expectWhole(std::string(one) + two + three + four);
}

// In linear time, whatever stands there.
TEST(SentenceSplitterTest, ReadsLongLines) {
  for (const char *part :
       {"“", "\"", ".", "。", ".“", "。\"", ". ", "a.", "[1"}) {
    std::string text;
    while (text.size() < 300'000)
      text += part;
    EXPECT_FALSE(splitSentences("a" + text).empty()) << part;
  }
}

TEST(SentenceSplitterTest, ReadsDamagedText) {
  EXPECT_EQ(split("A\xff. \xc3. B\xe2\x80"), "A\xff.|\xc3.|B\xe2\x80");
}

} // namespace
