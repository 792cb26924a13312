//===- TokenizerTests.cpp - Reading tokenizers ----------------------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Weights/Json.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const char *const kVocabulary = HEDDLE_MODELS "/bergamot-en-pt/vocab.enpt.spm";

TEST(SentencePieceModel, HasPiecesAndSpecialIds) {
  auto model = readSentencePieceModel(kVocabulary);
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->pieceCount(), 32000);
  EXPECT_EQ(model->eos, 0);
  EXPECT_EQ(model->unknown, 1);
  EXPECT_EQ(model->kind, SentencePieceModel::Kind::Unigram);
  EXPECT_EQ(model->pieces[2].text, ",");
}

TEST(SentencePieceModel, RefusesDamagedTables) {
  // The normaliser's table: a unit whose children lie outside the trie is
  // what the library would follow blindly.
  std::string bytes = readFile(kVocabulary);
  TemporaryFolder folder;
  std::string table = "nmt_nfkc";
  size_t name = bytes.find(table);
  ASSERT_NE(name, std::string::npos);
  // Field 2 follows the name: its tag, a varint of three bytes, the trie's
  // size, the trie.
  size_t unit = name + table.size() + 1 + 3 + 4;
  bytes.replace(unit, 4, bytesOf<uint32_t>(0x7ffffc00));
  std::string path = folder.write("vocab.spm", bytes);
  EXPECT_EQ(sentenceOf(readSentencePieceModel(path)),
            "'" + path + "' has a damaged normalisation table");
}

TEST(SentencePieceModel, RefusesOtherFiles) {
  TemporaryFolder folder;
  std::string path = folder.write("vocab.spm", "a text, not a model");
  EXPECT_EQ(sentenceOf(readSentencePieceModel(path)),
            "'" + path + "' is not a SentencePiece model");
  std::string empty = folder.write("empty.spm", "");
  EXPECT_EQ(sentenceOf(readSentencePieceModel(empty)),
            "'" + empty + "' is not a SentencePiece model");
}

/// A field of a message: of bytes, or a number.
std::string field(int number, const std::string &bytes) {
  return std::string(1, char(number << 3 | 2)) + char(bytes.size()) + bytes;
}
std::string field(int number, int value) {
  std::string tag(1, char(number << 3));
  return (number < 16 ? tag : std::string{char(number << 3 | 0x80), 2}) +
         char(value);
}
/// A piece with a score; type 1 is an ordinary one.
std::string piece(const std::string &text, int type = 1, float score = -1) {
  return field(1, field(1, text) + char(2 << 3 | 5) + bytesOf(score) +
                      field(3, type));
}

TEST(SentencePieceModel, NamesWhatItRefuses) {
  TemporaryFolder folder;
  auto read = [&](const std::string &bytes) {
    std::string path = folder.write("m.spm", bytes);
    std::string sentence = sentenceOf(readSentencePieceModel(path));
    return sentence.empty() ? "" : sentence.substr(path.size() + 3);
  };
  const std::string unknown = piece("<unk>", 2), a = piece("a"),
                    fallsBack = field(2, field(35, 1));
  EXPECT_EQ(read(unknown + a), "");
  EXPECT_EQ(read(unknown + a + field(2, field(3, 2))), "");
  EXPECT_EQ(read(unknown + a + field(2, field(3, 3))),
            "is a SentencePiece model of words (supported: unigram, BPE)");
  EXPECT_EQ(read(unknown + a + field(2, field(3, 4))),
            "is a SentencePiece model of characters (supported: unigram, BPE)");
  EXPECT_EQ(read(unknown + a + field(2, field(3, 9))),
            "is a SentencePiece model of type 9 (supported: unigram, BPE)");
  EXPECT_EQ(read(a), "has no piece for unknown characters");
  EXPECT_EQ(read(unknown), "has no pieces that text can be cut into");
  EXPECT_EQ(read(unknown + a + piece("<x>", 2)),
            "has a second piece for unknown characters at id 2");
  EXPECT_EQ(read(unknown + a + piece("b") + a),
            "repeats the piece of id 1 at id 3");
  EXPECT_EQ(read(unknown + a + piece("a", 3)), "");
  EXPECT_EQ(read(unknown + a + piece("")), "has an empty piece at id 2");
  EXPECT_EQ(read(unknown + a + piece(std::string("b\0c", 3))),
            "has a piece with a zero byte at id 2");
  EXPECT_EQ(read(unknown + a + piece("b", 1, NAN)),
            "has a score that is no number at id 2");
  EXPECT_EQ(read(unknown + a + piece("b", 7)),
            "has a piece of type 7 at id 2 (supported: 1 to 6)");
  EXPECT_EQ(read(unknown + a + piece("<0x41>", 6)),
            "has the piece of a byte at id 2 but no byte_fallback");
  EXPECT_EQ(read(unknown + a + fallsBack + piece("<0x4a>", 6)),
            "has a piece for a byte that names no byte at id 2");
  EXPECT_EQ(read(unknown + a + fallsBack + piece("<0x00>", 6)),
            "has byte_fallback but no piece of the byte 1");
  EXPECT_EQ(read(unknown + a + field(3, field(2, "12345"))),
            "has a damaged normalisation table");
  EXPECT_EQ(read(unknown + a + field(5, field(2, "12345"))),
            "has a damaged normalisation table");
}

TEST(Tokenizer, MustNumberTheVocabulary) {
  VocabularyFile whole{kVocabulary, 32000}, short_{kVocabulary, 31999};
  EXPECT_EQ(sentenceOf(readSentencePieceTokenizer(whole, whole)), "");
  EXPECT_EQ(sentenceOf(readSentencePieceTokenizer(whole, short_)),
            "'" + std::string(kVocabulary) +
                "' has 32000 pieces but the model's vocabulary has 31999");
}

TEST(Tokenizer, MarianMtNumbersPiecesByVocabJson) {
  TemporaryFolder folder;
  std::string spm = readFile(kVocabulary);
  folder.write("source.spm", spm);
  folder.write("target.spm", spm);
  folder.write("vocab.json", R"({"</s>": 0, "<unk>": 1, "\u2581a": 2,
                                 "<pad>": 4})");
  auto tokenizer = readFolderTokenizer(folder.path(), "MarianTokenizer", 5);
  ASSERT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  EXPECT_EQ(tokenizer->manifest, (llvm::json::Object{{"kind", "sentencepiece"},
                                                     {"eos", 0},
                                                     {"unknown", 1},
                                                     {"special", {0, 1, 4}}}));
  ASSERT_EQ(tokenizer->sections.size(), 1u);
  EXPECT_EQ(tokenizer->sections[0].name, "tokenizer");
}

TEST(Tokenizer, MarianMtRefusesWrongNumbers) {
  TemporaryFolder folder;
  std::string spm = readFile(kVocabulary);
  EXPECT_EQ(
      sentenceOf(readFolderTokenizer(folder.path(), "MarianTokenizer", 5)), "");
  folder.write("source.spm", spm);
  auto incomplete = readFolderTokenizer(folder.path(), "MarianTokenizer", 5);
  ASSERT_TRUE(bool(incomplete)) << llvm::toString(incomplete.takeError());
  EXPECT_EQ(
      incomplete->manifest,
      (llvm::json::Object{
          {"kind", "none"},
          {"reason", "the folder has 'source.spm' but no 'target.spm'"}}));
  folder.write("target.spm", spm);
  auto read = [&](const std::string &vocabulary) {
    std::string path = folder.write("vocab.json", vocabulary);
    std::string sentence =
        sentenceOf(readFolderTokenizer(folder.path(), "MarianTokenizer", 3));
    return sentence.substr(sentence.find(path) + path.size());
  };
  EXPECT_EQ(read(R"({"</s>": 0, "<unk>": 1, "far": 99999})"),
            "' numbers the piece 'far' with 99999 (expected a number below "
            "4099, 4096 more than there are pieces)");
  EXPECT_EQ(read(R"({"</s>": 0})"), "' has no piece '<unk>'");
  EXPECT_EQ(read(R"({"</s>": "0"})"),
            "' numbers the piece '</s>' with \"0\" (expected a number below "
            "4097, 4096 more than there are pieces)");
  // Which of them an id is in text is open.
  folder.write("vocab.json", R"({"</s>": 0, "<unk>": 0})");
  auto twice = readFolderTokenizer(folder.path(), "MarianTokenizer", 3);
  ASSERT_TRUE(bool(twice)) << llvm::toString(twice.takeError());
  EXPECT_EQ(twice->manifest.getString("reason").value_or(""),
            "'vocab.json' gives the id 0 to two pieces");
}

TEST(Tokenizer, CharacterTablesFitTheVocabulary) {
  auto tokenizer =
      makeCharacterTokenizer("____ab", "____\u00e6\u0259", 1, 2, 6);
  ASSERT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  EXPECT_EQ(
      tokenizer->manifest,
      (llvm::json::Object{
          {"kind", "characters"}, {"unknown", 3}, {"bos", 1}, {"eos", 2}}));
  LoadedTokenizer loaded(*tokenizer, 6);
  ASSERT_TRUE(bool(loaded)) << loaded.message();
  EXPECT_EQ(loaded.encode("ba_c"), (std::vector<int32_t>{1, 5, 4, 3, 3, 2}));
  EXPECT_EQ(loaded->decode({1, 4, 0, 3, 5, 2}), "\u00e6\u0259");
  EXPECT_EQ(
      sentenceOf(makeCharacterTokenizer("____ab", "____\u00e6\u0259", 1, 2, 5)),
      "'grapheme_chars' has 6 characters but the vocabulary has 5");
}

TEST(Tokenizer, CharactersAreThePublishedOutputs) {
  std::string folder = HEDDLE_SHARED_MODELS "/bart-g2p-us/";
  if (readFile(folder + "config.json").empty())
    GTEST_SKIP() << "no shared models";
  auto config = readJsonFile(folder + "config.json"),
       outputs = readJsonFile(folder + "hf-outputs.json");
  ASSERT_TRUE(bool(config)) << llvm::toString(config.takeError());
  ASSERT_TRUE(bool(outputs)) << llvm::toString(outputs.takeError());
  auto tokenizer = makeCharacterTokenizer(
      *config->getString("grapheme_chars"), *config->getString("phoneme_chars"),
      1, 2, *config->getInteger("vocab_size"));
  ASSERT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  LoadedTokenizer loaded(*tokenizer, *config->getInteger("vocab_size"));
  ASSERT_TRUE(bool(loaded)) << loaded.message();
  EXPECT_EQ(loaded.encode("hello"),
            (std::vector<int32_t>{1, 12, 52, 16, 16, 54, 2}));
  const llvm::json::Array &lines = *outputs->getArray("greedy_ids"),
                          &texts = *outputs->getArray("greedy_text");
  ASSERT_EQ(lines.size(), 2236u);
  for (auto [line, text] : llvm::zip_equal(lines, texts)) {
    std::vector<int32_t> ids;
    for (const llvm::json::Value &id : *line.getAsArray())
      ids.push_back(int32_t(*id.getAsInteger()));
    EXPECT_EQ(loaded->decode(ids), *text.getAsString());
  }
}

} // namespace
