//===- OffsetTokenizerTests.cpp - SentencePiece beside transformers -------===//

#include "SentencePieceSamples.h"
#include "TokenizerLoader.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string kGoldens = HEDDLE_GOLDENS "/offset/";

std::vector<std::string> readLines(const std::string &name) {
  std::vector<std::string> lines;
  llvm::SmallVector<llvm::StringRef> parts;
  std::string bytes = readFile(kGoldens + name);
  llvm::StringRef(bytes).split(parts, '\n');
  for (llvm::StringRef line : llvm::ArrayRef(parts).drop_back())
    lines.push_back(line.str());
  return lines;
}

std::vector<int32_t> parseIds(llvm::StringRef line) {
  std::vector<int32_t> ids;
  llvm::SmallVector<llvm::StringRef> parts;
  line.split(parts, ' ');
  for (llvm::StringRef part : parts)
    ids.push_back(std::stoi(part.str()));
  return ids;
}

/// A tokenizer of the goldens: where its model goes in a folder, and who reads
/// it.
struct Case {
  const char *name, *model;
  std::vector<const char *> places;
  const char *className;
  int64_t vocabulary;
};

class OffsetTokenizer : public testing::TestWithParam<Case> {
protected:
  llvm::Expected<ImportedTokenizer> read(int64_t vocabulary) {
    std::string golden = GetParam().name;
    for (const char *place : GetParam().places)
      folder.write(place, readFile(kGoldens + GetParam().model));
    for (const char *name : {"tokenizer_config.json", "vocab.json"})
      if (std::string text = readFile(kGoldens + golden + "/" + name);
          !text.empty())
        folder.write(name, text);
    return readFolderTokenizer(folder.path(), GetParam().className, vocabulary);
  }

  TemporaryFolder folder;
};

TEST_P(OffsetTokenizer, AgreesWithTransformers) {
  auto imported = read(GetParam().vocabulary);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  LoadedTokenizer tokenizer(*imported, GetParam().vocabulary);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  std::string golden = GetParam().name;
  for (auto [text, row] :
       llvm::zip_equal(readLines("texts"), readLines(golden + "/ids")))
    EXPECT_EQ(tokenizer.encode(text), parseIds(row)) << text;
  for (auto [row, text] : llvm::zip_equal(readLines(golden + "/drawn"),
                                          readLines(golden + "/decoded")))
    EXPECT_EQ(tokenizer->decode(parseIds(row)), text) << row;
}

INSTANTIATE_TEST_SUITE_P(Folders, OffsetTokenizer,
                         testing::Values(Case{"mbart",
                                              "fairseq.model",
                                              {"sentencepiece.bpe.model"},
                                              "MBartTokenizer",
                                              124},
                                         Case{"mbart50",
                                              "fairseq.model",
                                              {"sentencepiece.bpe.model"},
                                              "MBartTokenizer",
                                              151},
                                         Case{"pegasus",
                                              "pegasus.model",
                                              {"spiece.model"},
                                              "PegasusTokenizer",
                                              200},
                                         Case{"mbart-roles",
                                              "fairseq-roles.model",
                                              {"sentencepiece.bpe.model"},
                                              "MBartTokenizer",
                                              138},
                                         Case{"pegasus-roles",
                                              "pegasus-roles.model",
                                              {"spiece.model"},
                                              "PegasusTokenizer",
                                              213},
                                         Case{"marian",
                                              "fairseq.model",
                                              {"source.spm", "target.spm"},
                                              "MarianTokenizer",
                                              99}),
                         [](const auto &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(MBartTokenizer, CountsLanguagesWhereNoClassIsNamed) {
  TemporaryFolder folder;
  folder.write("sentencepiece.bpe.model", readFile(kGoldens + "fairseq.model"));
  auto small = readFolderTokenizer(folder.path(), "MBartTokenizer", 124),
       large = readFolderTokenizer(folder.path(), "MBartTokenizer", 151);
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->manifest.getInteger("language"), 97 + 1 + 3);
  EXPECT_EQ(large->manifest.getInteger("bos"), 97 + 1 + 3);
  EXPECT_EQ(small->manifest.getArray("languages")->size(), 25u);
  EXPECT_EQ(large->manifest.getArray("languages")->size(), 52u);
  EXPECT_EQ(small->manifest.getString("target_language"), "start");
  EXPECT_EQ(large->manifest.getString("target_language"), "forced_bos");
  EXPECT_FALSE(large->manifest.get("language"));
}

// A model with the ids of fairseq, whose <unk> stands behind the class's own:
// transformers finds the unknown piece of a BPE model by its text, of which the
// last counts, and that of a unigram model by the id of the class.
TEST(MBartTokenizer, FindsTheUnknownPieceOfMergesByItsText) {
  using Type = SentencePiece::Type;
  using Kind = SentencePieceModel::Kind;
  std::vector<SentencePiece> pieces = {{"<s>", 0, Type::Control},
                                       {"<pad>", 0, Type::Control},
                                       {"</s>", 0, Type::Control},
                                       {"<unk>", 0, Type::Unknown},
                                       {"\xE2\x96\x81", -5, Type::Normal},
                                       {"a", -6, Type::Normal},
                                       {"\xE2\x96\x81"
                                        "a",
                                        -7, Type::Normal}};
  TemporaryFolder folder;
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "MBart50Tokenizer"})");
  for (auto [kind, unknown] :
       {std::pair(Kind::Unigram, 3), std::pair(Kind::BytePairs, 4)}) {
    folder.write("sentencepiece.bpe.model", writeSentencePieces(pieces, kind));
    auto imported = readFolderTokenizer(folder.path(), "MBartTokenizer", 61);
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    LoadedTokenizer tokenizer(*imported, 61);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
    EXPECT_EQ(tokenizer.encode("a z"),
              std::vector<int32_t>({11, 7, 5, unknown, 2}));
    EXPECT_EQ(tokenizer->decode({3, 6, 4}), "a");
  }
}

TEST(MBartTokenizer, NamesWhatItDoesNotKnow) {
  TemporaryFolder folder;
  EXPECT_EQ(
      readFolderTokenizer(folder.path(), "MBartTokenizer", 1000)->manifest,
      ImportedTokenizer().manifest);
  folder.write("sentencepiece.bpe.model", readFile(kGoldens + "fairseq.model"));
  std::string path =
      folder.write("tokenizer_config.json", R"({"src_lang": "pt_XX"})");
  std::string sentence =
      sentenceOf(readFolderTokenizer(folder.path(), "MBartTokenizer", 124));
  EXPECT_EQ(sentence.rfind("'" + path +
                               "' has 'src_lang' with the value "
                               "\"pt_XX\" (supported: ar_AR, ",
                           0),
            0u)
      << sentence;
}

} // namespace
