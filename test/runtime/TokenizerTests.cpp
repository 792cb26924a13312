//===- TokenizerTests.cpp - Text to ids and back --------------------------===//
//
// Character tables are tested on their own. The SentencePiece models come from
// the folder of shared models; without it their tests skip.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Tokenizer.h"
#include "runtime/Utf8.h"

#include <filesystem>
#include <fstream>
#include <thread>

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

namespace {

class SentencePieceTest : public testing::Test {
protected:
  /// The content of a shared model's file; the test skips without it.
  static std::string shared(const std::string &name) {
    return readFile(std::string(HEDDLE_SHARED_MODELS) + "/" + name);
  }

  /// A tokenizer from sections and the manifest's tokenizer object.
  static Result<std::unique_ptr<Tokenizer>>
  make(ArtifactBuilder builder, const json &description, int32_t vocabulary) {
    json text = toyManifest();
    text["vocabulary"] = {{"source", vocabulary}, {"target", vocabulary}};
    text["tokenizer"] = description;
    text["entries"] = json::array();
    Result<Manifest> manifest = parseManifest(text.dump());
    if (!manifest.ok())
      return manifest.status();
    TemporaryFile file(builder.build());
    Result<Artifact> artifact = Artifact::open(file.path());
    if (!artifact.ok())
      return artifact.status();
    return makeTokenizer(*artifact, *manifest);
  }

  static json plain() {
    return {{"kind", "sentencepiece"},
            {"eos", 0},
            {"unknown", 1},
            {"special", {0}}};
  }
};

} // namespace

TEST_F(SentencePieceTest, matches_the_reference) {
  std::string model = shared("bergamot-en-pt/vocab.enpt.spm");
  if (model.empty())
    GTEST_SKIP() << "no shared models";
  auto made =
      make(ArtifactBuilder().add("tokenizer.source", model), plain(), 32000);
  ASSERT_TRUE(made.ok()) << made.message();
  const Tokenizer &tokenizer = **made;
  std::ifstream lines(std::string(HEDDLE_SHARED_MODELS) +
                      "/bergamot-en-pt/expected.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    json expected = json::parse(line);
    EXPECT_EQ(encode(tokenizer, expected["src"].get<std::string>()),
              expected["ids"].get<Ids>());
    EXPECT_EQ(tokenizer.decode(expected["out"].get<Ids>()),
              expected["text"].get<std::string>());
  }
  EXPECT_EQ(count, 300u);
}

TEST_F(SentencePieceTest, reads_any_bytes) {
  std::string model = shared("bergamot-en-pt/vocab.enpt.spm");
  if (model.empty())
    GTEST_SKIP() << "no shared models";
  auto made =
      make(ArtifactBuilder().add("tokenizer.source", model), plain(), 32000);
  ASSERT_TRUE(made.ok()) << made.message();
  const Tokenizer &tokenizer = **made;
  EXPECT_EQ(encode(tokenizer, ""), Ids());
  EXPECT_EQ(encode(tokenizer, "  \t "), Ids());
  // Damaged UTF-8 is an unknown piece.
  Ids damaged = encode(tokenizer, "a");
  damaged.insert(damaged.end() - 1, 1);
  EXPECT_EQ(encode(tokenizer, "a\xFF"), damaged);
  EXPECT_FALSE(encode(tokenizer, std::string("a\0b\xC3", 4)).empty());
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_EQ(tokenizer.decode({-5, 32000, 1 << 30}), "");
}

TEST_F(SentencePieceTest, a_vocabulary_numbers_the_pieces) {
  std::string source = shared("opus-mt-en-mg-config/source.spm");
  std::string target = shared("opus-mt-en-mg-config/target.spm");
  json vocabulary = json::parse(shared("opus-mt-en-mg-config/vocab.json"),
                                nullptr, /*allow_exceptions=*/false);
  if (source.empty() || !vocabulary.is_object())
    GTEST_SKIP() << "no shared models";
  std::vector<std::string> pieces(vocabulary.size() + 1);
  for (const auto &item : vocabulary.items())
    pieces.at(item.value().get<size_t>()) = item.key();
  pieces.back() = ">>plt<<";
  auto idOf = [&](const char *piece) {
    return int32_t(std::find(pieces.begin(), pieces.end(), piece) -
                   pieces.begin());
  };
  json description = plain();
  description["special"] = {0, 1, idOf("<pad>")};
  auto made = make(ArtifactBuilder()
                       .add("tokenizer.source", source)
                       .add("tokenizer.target", target)
                       .add("tokenizer.vocabulary", json(pieces).dump()),
                   description, int32_t(pieces.size()));
  ASSERT_TRUE(made.ok()) << made.message();
  const Tokenizer &tokenizer = **made;

  Ids the = {idOf("\xE2\x96\x81the"), 0};
  EXPECT_EQ(encode(tokenizer, "the"), the);
  // A language code is one piece, known or not.
  EXPECT_EQ(encode(tokenizer, ">>plt<< the"),
            (Ids{idOf(">>plt<<"), the[0], 0}));
  EXPECT_EQ(encode(tokenizer, ">>xxx<<the"), (Ids{1, the[0], 0}));
  EXPECT_EQ(encode(tokenizer, ">>plt<<"), (Ids{idOf(">>plt<<"), 0}));
  EXPECT_GT(encode(tokenizer, ">>plt the").size(), 3u);
  EXPECT_EQ(encode(tokenizer, ""), Ids());
  // Segments of the source, joined; special ids leave no text.
  Ids sentence = encode(tokenizer, "The attention in a sentence.");
  sentence.insert(sentence.begin(), {idOf("<pad>"), 1});
  EXPECT_EQ(tokenizer.decode(sentence), "The attention in a sentence.");
  EXPECT_EQ(tokenizer.decode({idOf("\xE2\x96\x81the"), int32_t(pieces.size()),
                              -1, idOf("s")}),
            "thes");
}

TEST_F(SentencePieceTest, refuses_what_it_cannot_use) {
  auto message = [](const ArtifactBuilder &builder, int32_t vocabulary) {
    auto made = make(builder, plain(), vocabulary);
    std::string text = made.ok() ? "made" : made.message();
    return text.substr(
        text.find("' ") == std::string::npos ? 0 : text.find("' ") + 2);
  };
  EXPECT_EQ(message(ArtifactBuilder(), 32000),
            "has no section 'tokenizer.source', which its tokenizer needs");
  EXPECT_EQ(message(ArtifactBuilder().add("tokenizer.source", "hello"), 32000),
            "has a section 'tokenizer.source' that is not a SentencePiece "
            "model");
  std::string model = shared("bergamot-en-pt/vocab.enpt.spm");
  if (model.empty())
    GTEST_SKIP() << "no shared models";
  ArtifactBuilder builder;
  builder.add("tokenizer.source", model);
  EXPECT_EQ(message(builder, 31999),
            "has 32000 pieces from 0 on, but the source vocabulary has 31999");
  auto withVocabulary = [&](const char *text) {
    return message(ArtifactBuilder(builder).add("tokenizer.vocabulary", text),
                   2);
  };
  EXPECT_EQ(withVocabulary("{"), "is not a JSON array");
  EXPECT_EQ(withVocabulary("[\"a\", \"b\", \"c\"]"),
            "has 3 pieces but the vocabulary has 2");
  EXPECT_EQ(withVocabulary("[\"a\", 7]"),
            "has number at id 1, expected a string");
}
