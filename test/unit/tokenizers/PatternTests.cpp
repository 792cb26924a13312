//===- PatternTests.cpp - Patterns of tokenizers beside the library -------===//
//
// test/goldens/patterns says how tokenizers cuts texts, and which characters it
// gives to a property.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/PatternSyntax.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "lib/Weights/Json.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/Utf8.h"
#include "test/unit/FileBuilders.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using namespace llvm;

static json::Value readGolden(const std::string &name) {
  return cantFail(
      json::parse(readFile(std::string(HEDDLE_GOLDENS) + "/patterns/" + name)));
}

namespace {
/// A table, and a view of it.
struct Pattern {
  explicit Pattern(StringRef text) {
    Expected<std::string> built = buildPatternTable(text);
    if (!built) {
      ADD_FAILURE() << toString(built.takeError());
      built = buildTextTable("a");
    }
    table = std::move(*built);
    view = *TextPattern::parse(table);
  }

  /// All matches, and what is between them.
  std::vector<std::string> cut(std::string_view text) const {
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      TextPattern::Match match = view.find(text, at);
      if (match.begin > at)
        pieces.emplace_back(text.substr(at, match.begin - at));
      if (match.end > match.begin)
        pieces.emplace_back(text.substr(match.begin, match.end - match.begin));
      at = match.end;
    }
    return pieces;
  }

  std::string table;
  TextPattern view;
};
} // namespace

TEST(PatternTest, CutsAsTokenizersDoes) {
  json::Value golden = readGolden("cuts.json");
  for (const json::Value &entry : *golden.getAsArray()) {
    const json::Array &pair = *entry.getAsArray();
    Pattern pattern(*pair[0].getAsString());
    for (const json::Value &each : *pair[1].getAsArray()) {
      std::vector<std::string> expected;
      std::string text;
      for (const json::Value &piece : *each.getAsArray()) {
        expected.push_back(piece.getAsString()->str());
        text += expected.back();
      }
      EXPECT_EQ(pattern.cut(text), expected)
          << pair[0].getAsString()->str() << "\n"
          << text;
    }
  }
}

/// FNV-1a of the first and the last code point of each range.
static std::string digest(const CodePointSet &set) {
  uint64_t value = 0xCBF29CE484222325;
  for (auto [first, last] : set.sorted())
    for (char32_t point : {first, last})
      for (int byte = 0; byte < 4; ++byte)
        value = (value ^ (point >> 8 * byte & 0xFF)) * 0x100000001B3;
  return utohexstr(value, /*LowerCase=*/true, /*Width=*/16);
}

TEST(PatternTest, PropertiesHaveTheCharactersOfTokenizers) {
  json::Value golden = readGolden("properties.json");
  CodePointSet characters = CodePointSet(0xD800, 0xDFFF).complement();
  for (const auto &[name, entry] : *golden.getAsObject()) {
    auto node = parsePattern(name);
    ASSERT_TRUE(bool(node)) << toString(node.takeError());
    ASSERT_EQ(node->kind, PatternNode::Kind::Character) << name.str();
    CodePointSet set = node->set.intersect(characters);
    int64_t count = 0;
    for (auto [first, last] : set.sorted())
      count += last - first + 1;
    EXPECT_EQ(count, (*entry.getAsArray())[0].getAsInteger()) << name.str();
    EXPECT_EQ(digest(set), (*entry.getAsArray())[1].getAsString()->str())
        << name.str();
  }
}

TEST(PatternTest, RefusesWithThePlace) {
  const std::pair<const char *, const char *> cases[] = {
      {"a(?=bc)", "a look at more than one character at offset 1"},
      {"(a)\\1", "the unsupported escape '\\1' at offset 3"},
      {"é\\K", "the unsupported escape '\\K' at offset 1"},
      {"a|b*", "the empty text among its matches at offset 0"},
      {"(?:a*)*b", "an endless repetition of what may be empty at offset 6"},
      {"[b-a]", "a range without an end, or one before its start, at offset 3"},
      {"x[ab", "a class without an end at offset 2"},
      {"x[]", "an empty class at offset 2"},
      {"[[:what:]]", "the unknown property 'what' at offset 1"},
      {"\\p{Klingon}", "the unknown property 'Klingon' at offset 0"},
      {"\\p{L", "a property without an end at offset 0"},
      {"(a", "a group without an end at offset 0"},
      {"a)", "a bracket that nothing opens at offset 1"},
      {"+a", "a quantifier of nothing at offset 0"},
      {"(?=a)+b", "a quantifier of a look at offset 5"},
      {"a{2}?", "a lazy interval of one number at offset 1"},
      {"a{3,2}", "an interval that is empty or above 1000 at offset 1"},
      {"(?:ab)*+",
       "a possessive quantifier of more than one class at offset 6"},
      {"(?>a|ab)", "an atomic group of more than one class at offset 0"},
      {"(?x) a", "a group of an unknown kind at offset 0"},
      {"(?i:ß)", "characters without regard to case that have a form of "
                 "several, at offset 4"},
      {"(?i:st)", "characters without regard to case that have a form of "
                  "several, at offset 5"},
      {"\\u00", "a number that is no character at offset 0"},
      {"\\", "an escape of nothing at offset 0"}};
  for (auto [pattern, what] : cases) {
    auto table = buildPatternTable(pattern);
    EXPECT_EQ(table ? "a table" : toString(table.takeError()),
              "the pattern '" + std::string(pattern) + "' has " + what);
  }
}

TEST(PatternTest, ManyStatesAreRefused) {
  // Which of the last sixteen characters are an a.
  auto table = buildPatternTable("(?:a|b)*a(?:a|b){15}c");
  EXPECT_EQ(
      toString(table.takeError()),
      "the pattern '(?:a|b)*a(?:a|b){15}c' has more than 20,000 states at "
      "offset 0");
}

TEST(PatternTest, TextMatchesItself) {
  std::string table = cantFail(buildTextTable("a+(é"));
  TextPattern text = *TextPattern::parse(table);
  TextPattern::Match match = text.find("aa+(éa", 0);
  EXPECT_EQ(match.begin, 1u);
  EXPECT_EQ(match.end, 6u);
  EXPECT_EQ(text.find("a+(e", 0).begin, 4u);
}

TEST(PatternTest, LongPatternsAreRefused) {
  auto endOf = [](const std::string &pattern) {
    auto table = buildPatternTable(pattern);
    std::string sentence = table ? "a table" : toString(table.takeError());
    return sentence.substr(sentence.find("' has ") + 6);
  };
  std::string letters;
  for (unsigned c = 0x4E00; c < 0x4E00 + 256; ++c) {
    letters += letters.empty() ? "" : "|";
    appendUtf8(c, letters);
  }
  EXPECT_EQ(endOf(letters), "more than 255 classes of characters at offset 0");
  EXPECT_EQ(endOf("(?:(?:(?:abc){1000}){1000}){1000}"),
            "more repetitions than an automaton has room for, the first at "
            "offset 0");
}

TEST(PatternTest, DamagedTablesAreRefused) {
  std::string table = cantFail(buildPatternTable("a+|\\p{L}"));
  EXPECT_FALSE(TextPattern::parse("").ok());
  EXPECT_FALSE(TextPattern::parse(table.substr(0, table.size() - 1)).ok());
  EXPECT_FALSE(TextPattern::parse(table + '\0').ok());
  // Every number of the table, one after the other, too large.
  for (size_t at = 16; at + 2 <= table.size(); at += at < 64 ? 2 : 998) {
    std::string damaged = table;
    damaged[at] = damaged[at + 1] = char(0xFF);
    Result<TextPattern> parsed = TextPattern::parse(damaged);
    ASSERT_FALSE(parsed.ok()) << at;
  }
}
