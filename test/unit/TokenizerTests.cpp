//===- TokenizerTests.cpp - Reading tokenizers ----------------------------===//

#include "FileBuilders.h"
#include "lib/Import/SentencePieceModel.h"
#include "lib/Import/Tokenizers.h"
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
  auto tokenizer = readMarianMtTokenizer(folder.path(), 5);
  ASSERT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  EXPECT_EQ(tokenizer->manifest, (llvm::json::Object{{"kind", "sentencepiece"},
                                                     {"eos", 0},
                                                     {"unknown", 1},
                                                     {"special", {0, 1, 4}}}));
  ASSERT_EQ(tokenizer->sections.size(), 3u);
  EXPECT_EQ(tokenizer->sections[2].name, "tokenizer.vocabulary");
}

TEST(Tokenizer, MarianMtRefusesWrongNumbers) {
  TemporaryFolder folder;
  std::string spm = readFile(kVocabulary);
  EXPECT_EQ(sentenceOf(readMarianMtTokenizer(folder.path(), 5)), "");
  folder.write("source.spm", spm);
  EXPECT_EQ(sentenceOf(readMarianMtTokenizer(folder.path(), 5)),
            "cannot read '" + folder.path() +
                "/vocab.json': No such file or directory");
  folder.write("target.spm", spm);
  auto read = [&](const std::string &vocabulary) {
    std::string path = folder.write("vocab.json", vocabulary);
    std::string sentence = sentenceOf(readMarianMtTokenizer(folder.path(), 3));
    return sentence.substr(sentence.find(path) + path.size());
  };
  EXPECT_EQ(read(R"({"</s>": 0, "<unk>": 3})"),
            "' numbers the piece '<unk>' with 3 but the vocabulary has 3 ids");
  EXPECT_EQ(read(R"({"</s>": 0, "<unk>": 0})"),
            "' gives the id 0 to two pieces");
  EXPECT_EQ(read(R"({"</s>": 0})"), "' has no piece '<unk>'");
  EXPECT_EQ(read(R"({"</s>": "0"})"),
            "' numbers the piece '</s>' with \"0\" but the vocabulary has 3 "
            "ids");
}

TEST(Tokenizer, CharacterTablesFitTheVocabulary) {
  auto tokenizer =
      makeCharacterTokenizer("____ab", "____\u00e6\u0259", 1, 2, 6);
  ASSERT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  EXPECT_EQ(tokenizer->manifest,
            (llvm::json::Object{{"kind", "characters"},
                                {"source", "____ab"},
                                {"target", "____\u00e6\u0259"},
                                {"unknown", 3},
                                {"bos", 1},
                                {"eos", 2}}));
  EXPECT_EQ(
      sentenceOf(makeCharacterTokenizer("____ab", "____\u00e6\u0259", 1, 2, 5)),
      "'grapheme_chars' has 6 characters but the vocabulary has 5");
}

} // namespace
