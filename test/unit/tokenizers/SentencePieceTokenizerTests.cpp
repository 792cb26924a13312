//===- SentencePieceTokenizerTests.cpp - Numbers of pieces ----------------===//
//
// Imported tokenizers at run time. Reference ids and models with a vocabulary
// come from the folder of shared models; without it their tests skip.
//
//===----------------------------------------------------------------------===//

#include "SentencePieceSamples.h"
#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Weights/Json.h"
#include "runtime/tokenizer/SpaceMark.h"
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sstream>

using namespace heddle;
using namespace heddle::test;

namespace {

using Ids = std::vector<int32_t>;

const std::string kVocabulary = HEDDLE_MODELS "/bergamot-en-pt/vocab.enpt.spm";
const std::string kOpus = HEDDLE_SHARED_MODELS "/opus-mt-en-mg-config";

ImportedTokenizer importDefault() {
  VocabularyFile file{kVocabulary, 32000};
  auto tokenizer = readSentencePieceTokenizer(file, file);
  EXPECT_TRUE(bool(tokenizer)) << llvm::toString(tokenizer.takeError());
  return tokenizer ? *tokenizer : ImportedTokenizer();
}

Ids idsOf(const llvm::json::Object &line, const char *key) {
  Ids ids;
  for (const llvm::json::Value &id : *line.getArray(key))
    ids.push_back(int32_t(*id.getAsInteger()));
  return ids;
}

TEST(SentencePieceTokenizer, MatchesTheReference) {
  std::istringstream lines(
      readFile(HEDDLE_SHARED_MODELS "/bergamot-en-pt/expected.jsonl"));
  LoadedTokenizer tokenizer(importDefault(), 32000);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    auto expected = parseJsonObject(line, "expected.jsonl");
    ASSERT_TRUE(bool(expected)) << llvm::toString(expected.takeError());
    EXPECT_EQ(tokenizer.encode(expected->getString("src")->str()),
              idsOf(*expected, "ids"));
    EXPECT_EQ(tokenizer->decode(idsOf(*expected, "out")),
              *expected->getString("text"));
  }
  if (!count)
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(count, 300u);
}

TEST(SentencePieceTokenizer, ReadsAnyBytes) {
  LoadedTokenizer tokenizer(importDefault(), 32000);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  EXPECT_EQ(tokenizer.encode(""), Ids());
  EXPECT_EQ(tokenizer.encode("  \t "), Ids());
  // Damaged UTF-8 is an unknown piece.
  Ids damaged = tokenizer.encode("a");
  damaged.insert(damaged.end() - 1, 1);
  EXPECT_EQ(tokenizer.encode("a\xFF"), damaged);
  EXPECT_FALSE(tokenizer.encode(std::string("a\0b\xC3", 4)).empty());
  EXPECT_EQ(tokenizer->decode({}), "");
  EXPECT_EQ(tokenizer->decode({-5, 32000, 1 << 30}), "");
}

TEST(SentencePieceTokenizer, NeedsItsModel) {
  ImportedTokenizer none = importDefault();
  none.sections.clear();
  std::string message = LoadedTokenizer(none, 32000).message();
  EXPECT_EQ(message.substr(message.find("' ") + 2),
            "has no section 'tokenizer', which its tokenizer needs");
}

/// The pieces of a real folder and a language, in an order of their own.
class NumberedTokenizer : public testing::Test {
protected:
  void SetUp() override {
    if (readFile(kOpus + "/source.spm").empty())
      GTEST_SKIP() << "no shared models";
    auto ids = readJsonFile(kOpus + "/vocab.json");
    ASSERT_TRUE(bool(ids)) << llvm::toString(ids.takeError());
    (*ids)[">>plt<<"] = int64_t(ids->size());
    size = int64_t(ids->size());
    auto numbered = heddle::numberPieces(*ids, "vocab.json", size);
    ASSERT_TRUE(bool(numbered)) << llvm::toString(numbered.takeError());
    pieces = *numbered;
    auto read =
        readNumberedTokenizer(kOpus + "/source.spm", kOpus + "/target.spm",
                              *ids, {"vocab.json", size});
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    imported = *read;
    tokenizer.emplace(imported, size);
    ASSERT_TRUE(bool(*tokenizer)) << tokenizer->message();
  }

  int32_t idOf(const std::string &piece) const {
    auto found = std::find(pieces.begin(), pieces.end(), piece);
    return found == pieces.end() ? idOf("<unk>")
                                 : int32_t(found - pieces.begin());
  }

  int64_t size = 0;
  std::vector<std::string> pieces;
  ImportedTokenizer imported;
  std::optional<LoadedTokenizer> tokenizer;
};

TEST_F(NumberedTokenizer, HasOneNumberingForBothModels) {
  int32_t eos = idOf("</s>"), unknown = idOf("<unk>");
  Ids the = {idOf("\xE2\x96\x81the"), eos};
  EXPECT_EQ(tokenizer->encode("the"), the);
  // A language code is one piece, known or not.
  EXPECT_EQ(tokenizer->encode(">>plt<< the"),
            (Ids{idOf(">>plt<<"), the[0], eos}));
  EXPECT_EQ(tokenizer->encode(">>xxx<<the"), (Ids{unknown, the[0], eos}));
  EXPECT_EQ(tokenizer->encode(">>plt<<"), (Ids{idOf(">>plt<<"), eos}));
  EXPECT_GT(tokenizer->encode(">>plt the").size(), 3u);
  EXPECT_EQ(tokenizer->encode(""), Ids());
  // Segments of the source, joined; special ids leave no text.
  Ids sentence = tokenizer->encode("The attention in a sentence.");
  sentence.insert(sentence.begin(), {idOf("<pad>"), unknown});
  EXPECT_EQ((*tokenizer)->decode(sentence), "The attention in a sentence.");
  EXPECT_EQ((*tokenizer)->decode({the[0], int32_t(size), -1, idOf("s")}),
            "thes");
}

/// Python's str.strip, of ASCII.
std::string strip(std::string text) {
  return llvm::StringRef(text).trim(" \t\n\r\v\f").str();
}

TEST_F(NumberedTokenizer, NumbersWhatTheLibraryCuts) {
  sentencepiece::SentencePieceProcessor source, target;
  ASSERT_TRUE(source.Load(kOpus + "/source.spm").ok());
  ASSERT_TRUE(target.Load(kOpus + "/target.spm").ok());
  std::unordered_map<std::string, int32_t> ids;
  for (size_t id = 0; id < pieces.size(); ++id)
    ids.emplace(pieces[id], int32_t(id));
  int32_t unknown = idOf("<unk>"), eos = idOf("</s>");
  LineDrawer drawer(14, pieces);
  std::mt19937 random(15);
  for (int i = 0; i < 5000; ++i) {
    std::string line = drawer.drawLine();
    if (line.substr(0, 2) == ">>")
      continue;
    Ids expected;
    for (const std::string &piece : source.EncodeAsPieces(line)) {
      auto found = ids.find(piece);
      expected.push_back(found == ids.end() ? unknown : found->second);
    }
    if (!expected.empty())
      expected.push_back(eos);
    ASSERT_EQ(tokenizer->encode(line), expected) << line;

    Ids drawn(1 + random() % 20);
    std::vector<std::string> kept;
    for (int32_t &id : drawn) {
      id = int32_t(random() % pieces.size());
      if (id != eos && id != unknown && id != idOf("<pad>"))
        kept.push_back(pieces[id]);
    }
    std::string text = target.DecodePieces(kept);
    for (size_t at; (at = text.find(kSpaceMark)) != std::string::npos;)
      text.replace(at, kSpaceMark.size(), " ");
    ASSERT_EQ((*tokenizer)->decode(drawn), strip(text));
  }
}

/// Small models with every table.
std::vector<SentencePieceModel> readSmallModels() {
  TemporaryFolder folder;
  std::vector<SentencePieceModel> models;
  for (const char *options :
       {"--vocab_size=150 --normalization_rule_name=identity",
        "--model_type=bpe --vocab_size=400 --byte_fallback=true "
        "--user_defined_symbols=<sep>,the "
        "--normalization_rule_name=identity"}) {
    auto model = readSentencePieceModel(
        folder.write("model.spm", trainSentencePiece(options)));
    EXPECT_TRUE(bool(model)) << llvm::toString(model.takeError());
    models.push_back(std::move(*model));
  }
  return models;
}

/// What a damaged table must not do shows as the death of the test.
TEST(SentencePieceStages, MayBeDamaged) {
  std::mt19937 random(16);
  for (const SentencePieceModel &model : readSmallModels()) {
    std::vector<std::string> texts = {"a", "the", "<sep>"};
    PieceNumbers numbers{texts, /*unknown=*/1};
    StageList list;
    list.add(format::kVocabulary, StageList::kBothSides,
             buildVocabulary(texts));
    list.addHeader(format::kFindLanguageCode, StageList::kBothSides,
                   format::CodesHeader{1, 0});
    addSentencePieceCutter(model, StageList::kBothSides, list);
    addPieceNumbers(model, numbers, format::kUsedForTarget, list);
    addSentencePieceJoiner(model, /*numbers=*/nullptr, list);
    std::string whole = list.build();
    ASSERT_TRUE(TokenizerStages::parse(whole, {}).ok());
    for (int i = 0; i < 30000; ++i) {
      std::string damaged = whole;
      // Half of the changes to the list of stages, or to the first headers.
      size_t range = i % 2 ? damaged.size() : 300;
      for (int change = 0; change < 1 + i % 3; ++change)
        damaged[random() % range] = char(random());
      if (i % 16 == 0)
        damaged.resize(random() % damaged.size());
      auto parsed = TokenizerStages::parse(damaged, {});
      if (!parsed.ok())
        continue;
      std::vector<Piece> pieces;
      for (auto side :
           {TokenizerStages::Side::Source, TokenizerStages::Side::Target})
        parsed->cut(">>x<<the <sep> other\xFF \xE2\x96\x81 ones\xC3", side,
                    /*tracks=*/true, pieces);
      Ids ids = {-1, 0, 1, 1000};
      for (const Piece &piece : pieces)
        ids.push_back(piece.id);
      parsed->join(ids);
    }
  }
}

} // namespace
