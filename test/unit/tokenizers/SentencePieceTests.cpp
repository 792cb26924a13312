//===- SentencePieceTests.cpp - Cutting and joining as the library --------===//
//
// Ids and texts are compared with those of SentencePiece 0.1.97, which only
// tests link.
//
//===----------------------------------------------------------------------===//

#include "SentencePieceSamples.h"
#include "test/unit/FileBuilders.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <set>

using namespace heddle;
using namespace heddle::test;
using sentencepiece::SentencePieceProcessor;

namespace {

/// A model, where it comes from and how many lines are compared.
struct Case {
  const char *name;
  /// Of the trainer; nothing for the default model.
  const char *options;
  int lines = 2000;
  bool hasUnused = false;
};

void PrintTo(const Case &aCase, std::ostream *stream) { *stream << aCase.name; }

const char kDefaultModel[] = HEDDLE_MODELS "/bergamot-en-pt/vocab.enpt.spm";

std::vector<Case> listCases();

class SentencePieceOracle : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    const Case &model = GetParam();
    std::string bytes = model.options ? trainSentencePiece(model.options)
                                      : readFile(kDefaultModel);
    if (model.hasUnused)
      bytes = markUnused(bytes);
    ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok());
    auto read = readSentencePieceModel(folder.write("model.spm", bytes));
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->eos, library.eos_id());
    EXPECT_EQ(read->unknown, library.unk_id());
    for (const SentencePiece &piece : read->pieces)
      texts.push_back(piece.text);
    ours.emplace(*read);
    ASSERT_EQ(int(texts.size()), library.GetPieceSize());
  }

  /// Compares ids, pieces and the text that they join to.
  void compare(const std::string &line) {
    std::vector<int> ids = library.EncodeAsIds(line);
    ASSERT_EQ(ours->cut(line), ids)
        << testing::PrintToString(line.substr(0, 500));
    compareJoined(ids);
  }

  void compareJoined(const std::vector<int> &ids) {
    ASSERT_EQ(ours->join(ids), library.DecodeIds(ids))
        << testing::PrintToString(ids);
  }

  TemporaryFolder folder;
  SentencePieceProcessor library;
  std::optional<StagedModel> ours;
  std::vector<std::string> texts;
};

TEST_P(SentencePieceOracle, SameIdsAndTexts) {
  LineDrawer drawer(11, texts);
  for (const char *line :
       {"", " ", "a", "\xFF", "\xE2\x96\x81", " \xE2\x96\x81 ", "\t\t"})
    compare(line);
  for (int i = 0; i < GetParam().lines && !HasFatalFailure(); ++i)
    compare(drawer.drawLine());
}

// Ten million bytes, together: lines whose bytes are changed, left out and
// doubled, so that characters break anywhere.
TEST_P(SentencePieceOracle, SameIdsOfFuzzedBytes) {
  size_t left = 10000000 / listCases().size() + 1;
  LineDrawer drawer(14, texts);
  std::mt19937 random(15);
  while (left > 0 && !HasFatalFailure()) {
    std::string line = drawer.drawLong(random() % 400);
    for (size_t changes = random() % 20; changes > 0; --changes) {
      size_t at = random() % (line.size() + 1), size = random() % 4;
      std::string part = line.substr(at, random() % 2 * size);
      if (random() % 2)
        part += char(random());
      line.replace(at, size, part + part);
    }
    compare(line);
    left -= std::min(left, line.size());
  }
}

TEST_P(SentencePieceOracle, SameTextsOfAnyIds) {
  std::mt19937 random(12);
  for (int i = 0; i < GetParam().lines && !HasFatalFailure(); ++i) {
    std::vector<int> ids(random() % 24);
    for (int &id : ids)
      id = int(random() % (i % 2 ? 300 : texts.size()) % texts.size());
    compareJoined(ids);
  }
}

TEST_P(SentencePieceOracle, SameIdsOfLongLines) {
  // More than 16 bits count. The library's lattice of as much takes a sanitizer
  // half a minute a model, and --quick some seconds.
  const char *cells = std::getenv("HEDDLE_CELLS");
  bool isShort = std::getenv("HEDDLE_SANITIZED") ||
                 (cells && cells == std::string_view("quick"));
  const size_t length = isShort ? 10000 : 70000;
  LineDrawer drawer(13, texts);
  compare(drawer.drawLong(length));
  for (const char *part :
       {"a", " ", "ab", "\xF0\x9F\x98\x80", "\xFF", "\xEF\xB7\xBA", "the ",
        "\xE2\x96\x81", "e\xCC\x81"}) {
    std::string line;
    while (line.size() < length)
      line += part;
    compare(line);
  }
}

// Models that no trainer makes: few letters, equal scores, pieces of all types
// that contain each other.
TEST(SentencePieceModels, SameIdsOfDrawnModels) {
  using Type = SentencePiece::Type;
  std::mt19937 random(19);
  auto draw = [&](size_t least, size_t most) {
    std::string text;
    for (size_t i = least + random() % (most - least + 1); i > 0; --i)
      text += char('a' + random() % 4);
    return text;
  };
  TemporaryFolder folder;
  for (int round = 0; round < 400; ++round) {
    auto kind = round % 2 ? SentencePieceModel::Kind::Unigram
                          : SentencePieceModel::Kind::BytePairs;
    std::vector<SentencePiece> pieces = {{"<unk>", 0, Type::Unknown},
                                         {"<s>", 0, Type::Control},
                                         {"a", -1, Type::Normal}};
    std::set<std::string> texts = {"a"};
    for (int i = 0; i < 40; ++i) {
      std::string text = draw(1, 5);
      if (!texts.insert(text).second)
        continue;
      size_t chance = random() % 10;
      // Halves: their sums are exact, and equal ones frequent.
      float score = -0.5f * float(random() % 8) + (round % 8 == 7 ? 2 : 0);
      pieces.push_back({text, score,
                        chance == 0   ? Type::UserDefined
                        : chance <= 3 ? Type::Unused
                                      : Type::Normal});
    }
    std::string bytes = writeSentencePieces(pieces, kind);
    SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(bytes).ok());
    auto read = readSentencePieceModel(folder.write("model.spm", bytes));
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    StagedModel ours(*read);
    for (int line = 0; line < 50; ++line) {
      std::string text = draw(1, 60);
      std::vector<int> ids = library.EncodeAsIds(text);
      ASSERT_EQ(ours.cut(text), ids) << round << " " << text;
      ASSERT_EQ(ours.join(ids), library.DecodeIds(ids));
    }
  }
}

constexpr const char *kSymbols =
    " --user_defined_symbols=<sep>,[mask],the,\xE2\x96\x81of,\xC3\xA9t "
    "--control_symbols=<c>,\xE2\x98\x85";

std::vector<Case> listCases() {
  static const std::string unigramSymbols =
      std::string("--vocab_size=600 --byte_fallback=true") + kSymbols;
  static const std::string mergesSymbols =
      std::string("--model_type=bpe --vocab_size=900 --byte_fallback=true "
                  "--normalization_rule_name=identity") +
      " --user_defined_symbols=<sep>,[mask],the,\xE2\x96\x81of,\xC3\xA9t";
  static const std::string rules = [] {
    static TemporaryFolder folder;
    // "a" becomes "A b", and a full stop nothing.
    return folder.write("rules.tsv", "61\t41 20 62\n2E\t\n20 7A\t7A\n");
  }();
  static const std::string back =
      "--vocab_size=400 --denormalization_rule_tsv=" + rules;
  static const std::string forth =
      "--model_type=bpe --vocab_size=400 --normalization_rule_tsv=" + rules;
  return {
      {"default_model", nullptr, 20000},
      {"unigram", "--vocab_size=1000"},
      {"unigram_symbols", unigramSymbols.c_str()},
      {"unigram_unused", "--vocab_size=1000", 2000, true},
      {"unigram_all_spaces",
       "--vocab_size=500 --normalization_rule_name=identity "
       "--add_dummy_prefix=false --remove_extra_whitespaces=false "
       "--allow_whitespace_only_pieces=true"},
      {"unigram_keeps_spaces",
       "--vocab_size=500 --remove_extra_whitespaces=false "
       "--split_by_whitespace=false"},
      {"unigram_suffix", "--vocab_size=500 --treat_whitespace_as_suffix=true "
                         "--normalization_rule_name=nfkc_cf"},
      {"unigram_denormalizer", back.c_str()},
      {"unigram_surface", "--vocab_size=300 --unk_surface=@ --unk_id=5 "
                          "--bos_id=-1 --eos_id=0 --pad_id=1 --eos_piece=[end] "
                          "--character_coverage=0.98"},
      {"bpe", "--model_type=bpe --vocab_size=1500", 20000},
      {"bpe_symbols", mergesSymbols.c_str()},
      {"bpe_unused", "--model_type=bpe --vocab_size=1500", 5000, true},
      {"bpe_rules", forth.c_str()},
      {"bpe_suffix", "--model_type=bpe --vocab_size=700 "
                     "--treat_whitespace_as_suffix=true "
                     "--add_dummy_prefix=true --split_digits=true"},
      {"bpe_no_prefix", "--model_type=bpe --vocab_size=700 "
                        "--add_dummy_prefix=false "
                        "--normalization_rule_name=nfkc"}};
}

INSTANTIATE_TEST_SUITE_P(Models, SentencePieceOracle,
                         testing::ValuesIn(listCases()), [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
