//===- TokenizerTests.cpp - Text to ids and back --------------------------===//
//
// Characters and their tables; the tables of other tokenizers are written by
// lib/Import, whose tests are in test/unit.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"

using namespace heddle;
using namespace heddle::test;
using nlohmann::json;

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
  CharacterTokenizerTest() {
    TokenizerDescription description;
    description.bos = 1;
    description.eos = 2;
    description.unknown = 3;
    description.sourceCharacters = "____AIOb-b";
    description.targetCharacters = "____AI\xC3\xA6\xCB\x88";
    tokenizer = makeCharacterTokenizer(description);
  }
  std::unique_ptr<Tokenizer> tokenizer;
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
  EXPECT_EQ(tokenizer->decode({1, 7, 6, 4, 0, 3, 2}), "\xCB\x88\xC3\xA6"
                                                      "A");
  EXPECT_EQ(tokenizer->decode({-1, 8, 1 << 30, 5}), "I");
}

TEST_F(CharacterTokenizerTest, matches_the_published_outputs) {
  std::string folder = HEDDLE_SHARED_MODELS "/bart-g2p-us/";
  std::string config = readFile(folder + "config.json");
  if (config.empty())
    GTEST_SKIP() << "no shared models";
  json tables = json::parse(config);
  json outputs = json::parse(readFile(folder + "hf-outputs.json"));
  TokenizerDescription description;
  description.bos = 1;
  description.eos = 2;
  description.unknown = 3;
  description.sourceCharacters = tables["grapheme_chars"].get<std::string>();
  description.targetCharacters = tables["phoneme_chars"].get<std::string>();
  auto published = makeCharacterTokenizer(description);
  EXPECT_EQ(encode(*published, "hello"), (Ids{1, 12, 52, 16, 16, 54, 2}));
  const json &ids = outputs["greedy_ids"], &texts = outputs["greedy_text"];
  ASSERT_EQ(ids.size(), 2236u);
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(published->decode(ids[i].get<Ids>()),
              texts[i].get<std::string>());
}

TEST_F(CharacterTokenizerTest, tables_may_be_empty) {
  auto empty = makeCharacterTokenizer(TokenizerDescription());
  EXPECT_EQ(encode(*empty, "ab"), (Ids{0, 0}));
  EXPECT_EQ(empty->decode({0, 1}), "");
}
