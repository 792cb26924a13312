//===- TokenizerTests.cpp - Text to ids and back --------------------------===//
//
// Characters and their tables; the tables of other tokenizers are written by
// lib/Import, whose tests are in test/unit.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"
#include "ToyTokenizer.h"

#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"

#include <array>

using namespace heddle;
using namespace heddle::test;

static Ids encode(const Tokenizer &tokenizer, std::string_view text) {
  Result<Ids> ids = tokenizer.encode(text);
  EXPECT_TRUE(ids.ok()) << ids.message();
  return ids.ok() ? *ids : Ids();
}

static std::vector<char32_t> codePoints(std::string_view text) {
  std::vector<char32_t> result;
  while (!text.empty())
    result.push_back(takeCodePoint(text).value);
  return result;
}

TEST(Utf8Test, reads_code_points_of_every_length) {
  EXPECT_EQ(codePoints("a\xC3\xA9\xE2\x96\x81\xF0\x9F\x98\x80"),
            (std::vector<char32_t>{'a', 0xE9, 0x2581, 0x1F600}));
  EXPECT_EQ(codePoints("\xC2\x80\xE0\xA0\x80\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
            (std::vector<char32_t>{0x80, 0x800, 0x10000, 0x10FFFF}));
  EXPECT_EQ(codePoints(std::string_view("\0", 1)), std::vector<char32_t>{0});
}

TEST(Utf8Test, replaces_what_is_not_well_formed) {
  constexpr char32_t bad = kReplacementCharacter;
  EXPECT_EQ(codePoints("\x80"), std::vector<char32_t>{bad});
  // The beginning of a character is one, as in Python.
  EXPECT_EQ(codePoints("\xE2\x96"), std::vector<char32_t>{bad});
  EXPECT_EQ(codePoints("\xE2\x96("), (std::vector<char32_t>{bad, '('}));
  EXPECT_EQ(codePoints("\xC3("), (std::vector<char32_t>{bad, '('}));
  EXPECT_EQ(codePoints("\xC0\xAF"), (std::vector<char32_t>{bad, bad}));
  EXPECT_EQ(codePoints("\xE0\x80\xAF"), (std::vector<char32_t>{bad, bad, bad}));
  EXPECT_EQ(codePoints("\xED\xA0\x80"), // A surrogate.
            (std::vector<char32_t>{bad, bad, bad}));
  EXPECT_EQ(codePoints("\xF4\x90\x80\x80"),
            (std::vector<char32_t>{bad, bad, bad, bad}));
  EXPECT_EQ(codePoints("\xFF"), std::vector<char32_t>{bad});
}

namespace {

/// The tables of shared model bart-g2p-us, shortened.
class CharacterTokenizerTest : public testing::Test {
protected:
  void SetUp() override {
    section = buildToyTokenizer("____AIOb-b", "____AIaeh", 3, 4, {{1}, {2}});
    Manifest manifest;
    manifest.sourceVocabulary = manifest.targetVocabulary = 10;
    Result<TokenizerStages> stages = TokenizerStages::parse(section, {1, 2});
    ASSERT_TRUE(stages.ok()) << stages.message();
    tokenizer.emplace(std::move(*stages), manifest);
  }

  std::string section;
  std::optional<Tokenizer> tokenizer;
};

} // namespace

TEST_F(CharacterTokenizerTest, ids_are_indices) {
  EXPECT_EQ(encode(*tokenizer, "OAI-"), (Ids{1, 6, 4, 5, 8, 2}));
}

TEST_F(CharacterTokenizerTest, the_first_of_equal_characters_counts) {
  EXPECT_EQ(encode(*tokenizer, "b"), (Ids{1, 7, 2}));
}

TEST_F(CharacterTokenizerTest, what_the_table_lacks_is_unknown) {
  EXPECT_EQ(encode(*tokenizer, "Az\xC3\xA6\xFF"), (Ids{1, 4, 3, 3, 3, 2}));
  EXPECT_EQ(encode(*tokenizer, "_"), (Ids{1, 3, 2})); // The filler.
}

TEST_F(CharacterTokenizerTest, no_text_has_no_ids) {
  EXPECT_EQ(encode(*tokenizer, ""), Ids());
}

TEST_F(CharacterTokenizerTest, special_ids_leave_no_text) {
  EXPECT_EQ(tokenizer->decode({1, 7, 6, 4, 3, 2}), "eaA");
  EXPECT_EQ(tokenizer->decode({-1, 9, 1 << 30, 5}), "I");
}

TEST_F(CharacterTokenizerTest, pieces_beyond_the_vocabulary_are_refused) {
  EXPECT_EQ(tokenizer->encodeTarget("h").message(), "");
  Manifest small;
  small.sourceVocabulary = small.targetVocabulary = 8;
  Tokenizer other(std::move(*TokenizerStages::parse(section, {})), small);
  EXPECT_EQ(other.encodeTarget("ah").message(),
            "has the piece 'h' with the id 8, but the model's target "
            "vocabulary ends at 7");
}

/// What is wrong with a list of stages.
static std::string messageOf(const std::string &section) {
  Result<TokenizerStages> stages = TokenizerStages::parse(section, {});
  return stages.ok() ? "" : stages.message();
}

TEST(TokenizerStagesTest, must_be_whole) {
  std::string whole = buildToyTokenizer("____ab", "____ab", 3);
  EXPECT_EQ(messageOf(whole), "");
  EXPECT_EQ(messageOf("hello"), "section 'tokenizer' has 5 bytes, too few for "
                                "a list of stages");
  EXPECT_EQ(messageOf(whole.substr(0, 80)),
            "section 'tokenizer' has 80 bytes, too few for a list of stages");
  EXPECT_EQ(messageOf(whole.substr(0, 128)),
            "stage 0 of section 'tokenizer' has a table outside of it");
  EXPECT_EQ(messageOf(buildToyStages({{99, 7, ""}})),
            "stage 0 of section 'tokenizer' is of the kind 99, which this "
            "runtime does not know");
  EXPECT_EQ(messageOf(buildToyStages({{format::kRepairText, 3, ""}})),
            "section 'tokenizer' has no stage that cuts sources, targets or "
            "joins");
  for (uint32_t uses : {0, 3})
    EXPECT_EQ(messageOf(buildToyStages({{format::kNumberPieces, uses, ""}})),
              "stage 0 of section 'tokenizer' numbers the pieces of no model");
}

/// What a damaged table must not do shows as the death of the test.
TEST(TokenizerStagesTest, may_be_damaged) {
  std::string whole = buildToyTokenizer("____ab", "____ab", 3);
  for (size_t at = 0; at < whole.size(); ++at)
    for (char value : {char(1), char(0x55), char(0xFF)}) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ value);
      Result<TokenizerStages> stages = TokenizerStages::parse(damaged, {});
      if (!stages.ok())
        continue;
      std::vector<Piece> pieces;
      stages->cut("a b\xFF", TokenizerStages::Side::Source, /*tracks=*/true,
                  pieces);
      (void)stages->join({0, 3, 5, 6});
    }
}

// A token is the bytes of the text that it stands for, whatever a stage adds.
TEST(TokenizerStagesTest, tokens_are_ranges_of_the_text) {
  auto uint32 = [](uint32_t number) {
    return std::string(reinterpret_cast<const char *>(&number), sizeof number);
  };
  std::string characters = uint32(0) + uint32(0) + "_ \xEF\xBF\xBD\xC3\xA9x";
  std::string section = buildToyStages(
      {{format::kRepairText, 3, ""},
       {format::kStripSpaces, 3, uint32(format::kStripsRight) + uint32(0)},
       {format::kAddSpace, 3, ""},
       {format::kCutCharacters, 3, characters},
       {format::kJoinBytes, 4, ""}});
  Result<TokenizerStages> stages = TokenizerStages::parse(section, {});
  ASSERT_TRUE(stages.ok()) << stages.message();
  std::vector<Piece> pieces;
  stages->cut("x\xFF\xC3\xA9 \n", TokenizerStages::Side::Source,
              /*tracks=*/true, pieces);
  std::vector<std::array<uint32_t, 3>> found;
  for (const Piece &piece : pieces)
    found.push_back({uint32_t(piece.id), piece.range.begin, piece.range.end});
  EXPECT_EQ(found, (std::vector<std::array<uint32_t, 3>>{
                       {1, 0, 1}, {4, 0, 1}, {2, 1, 2}, {3, 2, 4}}));
}
