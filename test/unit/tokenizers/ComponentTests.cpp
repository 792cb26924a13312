//===- ComponentTests.cpp - Components of tokenizer.json ------------------===//
//
// Ids, the characters that tokens stand for, and joined texts are those of the
// library tokenizers, see test/goldens/make_component_goldens.py.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "runtime/tokenizer/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA1.h"
#include <gtest/gtest.h>
#include <random>

using namespace heddle;
using namespace heddle::test;
using llvm::json::Array;
using Ids = std::vector<int32_t>;

namespace {

llvm::json::Value readGolden(const std::string &name) {
  auto parsed =
      llvm::json::parse(readFile(HEDDLE_GOLDENS "/components/" + name));
  EXPECT_TRUE(bool(parsed)) << name;
  return parsed ? *parsed : llvm::json::Value(nullptr);
}

/// A folder with a tokenizer.json alone.
llvm::Expected<ImportedTokenizer> importWhole(const std::string &json) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", json);
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  return readFolderTokenizer(folder.path(), "", 1);
}

std::vector<int64_t> numbersOf(const llvm::json::Value &list) {
  std::vector<int64_t> numbers;
  for (const llvm::json::Value &number : *list.getAsArray())
    numbers.push_back(*number.getAsInteger());
  return numbers;
}

class ComponentTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto imported = importWhole(readFile(
        std::string(HEDDLE_GOLDENS "/components/") + GetParam() + ".json"));
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    ASSERT_EQ(imported->manifest.getString("reason").value_or(""), "");
    std::vector<int32_t> special;
    for (int64_t id : numbersOf(*imported->manifest.get("special")))
      special.push_back(int32_t(id));
    section = imported->sections[0].bytes;
    auto parsed = TokenizerStages::parse(section, special);
    ASSERT_TRUE(parsed.ok()) << parsed.message();
    stages = std::move(*parsed);
  }

  std::string section;
  std::optional<TokenizerStages> stages;
};

TEST_P(ComponentTest, CutsAsTheLibrary) {
  auto texts = readGolden("texts.json"),
       tokens = readGolden(std::string(GetParam()) + ".tokens.json");
  for (auto [line, golden] :
       llvm::zip_equal(*texts.getAsArray(), *tokens.getAsArray())) {
    std::string text = line.getAsString()->str();
    std::vector<Piece> pieces;
    stages->cut(text, TokenizerStages::Side::Source, /*tracks=*/true, pieces);
    CharacterRanges ranges(text);
    std::vector<int64_t> ids, spans;
    for (const Piece &piece : pieces) {
      ids.push_back(piece.id);
      ranges.append(piece.range, spans);
    }
    const Array &pair = *golden.getAsArray();
    ASSERT_EQ(ids, numbersOf(pair[0])) << text;
    ASSERT_EQ(spans, numbersOf(pair[1])) << text;
  }
}

TEST_P(ComponentTest, JoinsAsTheLibrary) {
  auto golden = readGolden(std::string(GetParam()) + ".joined.json");
  for (const llvm::json::Value &entry : *golden.getAsArray()) {
    const Array &pair = *entry.getAsArray();
    std::vector<int32_t> ids;
    for (int64_t id : numbersOf(pair[0]))
      ids.push_back(int32_t(id));
    ASSERT_EQ(stages->join(ids), *pair[1].getAsString())
        << testing::PrintToString(ids);
  }
}

/// What a damaged table must not do shows as the death of the test.
TEST_P(ComponentTest, MayBeDamaged) {
  std::mt19937 random(3);
  auto texts = readGolden("texts.json");
  for (int i = 0; i < 150; ++i) {
    std::string damaged = section;
    // Half of the changes to the list of stages and the first headers.
    size_t range =
        i % 2 ? damaged.size() : std::min<size_t>(600, damaged.size());
    for (int change = 0; change < 1 + i % 3; ++change)
      damaged[random() % range] = char(random());
    auto parsed = TokenizerStages::parse(damaged, {0, 3});
    if (!parsed.ok())
      continue;
    std::vector<Piece> pieces;
    for (size_t line = 0; line < 12; ++line)
      parsed->cut((*texts.getAsArray())[line].getAsString()->str(),
                  TokenizerStages::Side::Source, /*tracks=*/true, pieces);
    std::vector<int32_t> ids = {-1, 1 << 30};
    for (const Piece &piece : pieces)
      ids.push_back(piece.id);
    parsed->join(ids);
  }
}

//===----------------------------------------------------------------------===//
// Post-processors and truncation
//===----------------------------------------------------------------------===//

std::optional<Truncation> readTruncation(const llvm::json::Value &value) {
  const Array *list = value.getAsArray();
  if (!list)
    return std::nullopt;
  Truncation truncation;
  truncation.maxTokens = size_t(*(*list)[0].getAsInteger());
  truncation.stride = size_t(*(*list)[1].getAsInteger());
  llvm::StringRef strategy = *(*list)[2].getAsString();
  truncation.strategy =
      strategy == "only_first"    ? Truncation::Strategy::OnlyFirst
      : strategy == "only_second" ? Truncation::Strategy::OnlySecond
                                  : Truncation::Strategy::LongestFirst;
  truncation.keepsEnd = *(*list)[3].getAsString() == "left";
  return truncation;
}

TEST(PostProcessors, MakeTheWindowsOfTheLibrary) {
  auto golden = readGolden("windows.json");
  for (const llvm::json::Value &entry : *golden.getAsArray()) {
    const Array &parts = *entry.getAsArray();
    auto whole = readGolden(parts[0].getAsString()->str() + ".json");
    (*whole.getAsObject())["post_processor"] = parts[1];
    std::string json;
    llvm::raw_string_ostream(json) << whole;
    auto imported = importWhole(json);
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    ASSERT_EQ(imported->manifest.getString("reason").value_or(""), "");
    LoadedTokenizer tokenizer(*imported, 1000);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
    for (const llvm::json::Value &value : *parts[2].getAsArray()) {
      const Array &golden = *value.getAsArray(),
                  &strings = *golden[0].getAsArray(),
                  &windows = *golden[2].getAsArray();
      std::vector<std::string> texts;
      std::vector<CharacterRanges> ranges;
      for (const llvm::json::Value &text : strings) {
        texts.push_back(text.getAsString()->str());
        ranges.emplace_back(texts.back());
      }
      TextPair pair{texts[0]};
      if (texts.size() == 2)
        pair.second = texts[1];
      auto made = tokenizer->encodeWindows(pair, readTruncation(golden[1]),
                                           /*tracks=*/true);
      ASSERT_TRUE(made.ok()) << made.message();
      ASSERT_EQ(made->size(), windows.size()) << texts[0];
      for (auto [window, expected] : llvm::zip_equal(*made, windows)) {
        const Array &lists = *expected.getAsArray();
        std::vector<int64_t> spans;
        for (auto [text, range] : llvm::zip_equal(window.texts, window.ranges))
          if (text < 0)
            spans.insert(spans.end(), {0, 0});
          else
            ranges[size_t(text)].append(range, spans);
        auto widen = [](const auto &list) {
          return std::vector<int64_t>(list.begin(), list.end());
        };
        ASSERT_EQ(widen(window.ids), numbersOf(lists[0])) << texts[0];
        EXPECT_EQ(spans, numbersOf(lists[1])) << texts[0];
        if (lists.size() == 2)
          continue;
        EXPECT_EQ(widen(window.types), numbersOf(lists[2])) << texts[0];
        EXPECT_EQ(widen(window.texts), numbersOf(lists[3])) << texts[0];
      }
    }
  }
}

TEST(PostProcessors, ThatAreNotSupportedAreRefused) {
  auto reasonOf = [](const std::string &processor) {
    auto whole = readGolden("bert.json");
    (*whole.getAsObject())["post_processor"] =
        llvm::cantFail(llvm::json::parse(processor));
    std::string json;
    llvm::raw_string_ostream(json) << whole;
    auto imported = importWhole(json);
    EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    return imported->manifest.getString("reason").value_or("").str();
  };
  EXPECT_EQ(reasonOf(R"({"type": "Odd"})"),
            "'tokenizer.json' has 'post_processor.type' with the value "
            "\"Odd\" (supported: ByteLevel, TemplateProcessing, "
            "BertProcessing, RobertaProcessing, or a sequence of ByteLevel and "
            "one of the others)");
  EXPECT_EQ(reasonOf(R"({"type": "Sequence", "processors": [
              {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]},
              {"type": "BertProcessing"}]})")
                .substr(0, 57),
            "'tokenizer.json' has 'post_processor.processors[1].type' ");
  EXPECT_EQ(reasonOf(R"({"type": "BertProcessing", "cls": ["[CLS]", -2]})"),
            "'tokenizer.json' has 'post_processor.cls' with the value "
            "[\"[CLS]\",-2] (supported: a token and its id)");
  EXPECT_EQ(reasonOf(R"({"type": "TemplateProcessing", "special_tokens": {},
              "single": [{"Sequence": {"id": "C", "type_id": 0}}]})")
                .substr(0, 51),
            "'tokenizer.json' has 'post_processor.single' with t");
  EXPECT_EQ(reasonOf(R"({"type": "TemplateProcessing", "special_tokens": {},
              "single": [{"SpecialToken": {"id": "x", "type_id": 0}}]})")
                .substr(0, 51),
            "'tokenizer.json' has 'post_processor.single' with t");
}

TEST(Truncations, MustHaveRoom) {
  using Strategy = Truncation::Strategy;
  auto messageOf = [](size_t first, std::optional<size_t> second,
                      const Truncation &truncation) {
    auto windows = truncate(first, second, /*specialCount=*/3, truncation);
    return windows.ok() ? "" : windows.message();
  };
  EXPECT_EQ(messageOf(5, {}, {2}), "has 3 special tokens around its text, "
                                   "expected at most 2");
  EXPECT_EQ(messageOf(5, {}, {3}), "");
  EXPECT_EQ(messageOf(5, 5, {8, Strategy::OnlyFirst}),
            "has 5 tokens in its second text, expected at most 4 beside "
            "another one");
  EXPECT_EQ(messageOf(5, 4, {8, Strategy::OnlySecond}),
            "has 5 tokens in its first text, expected at most 4 beside "
            "another one");
  EXPECT_EQ(messageOf(5, {}, {5, Strategy::LongestFirst, false, 2}),
            "has windows of 2 tokens of its text, expected more than a stride "
            "of 2");
  EXPECT_EQ(messageOf(5, {}, {5, Strategy::LongestFirst, false, 1}), "");
}

//===----------------------------------------------------------------------===//
// All characters
//===----------------------------------------------------------------------===//

std::string digestOf(const std::string &text) {
  llvm::SHA1 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

// 1,112,064 lines of a character each.
TEST(Components, MakeOfEachCharacterWhatTheLibraryDoes) {
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c)
    if (c < 0xD800 || c > 0xDFFF) {
      appendUtf8(c, text);
      text += '\n';
    }
  auto golden = readGolden("characters.json");
  for (const llvm::json::Value &entry : *golden.getAsArray()) {
    const Array &pair = *entry.getAsArray();
    StageList list;
    llvm::StringRef type = *pair[0].getAsObject()->getString("type");
    bool isNormalizer = !type.contains("Pre") && !type.contains("Whitespace") &&
                        type != "Punctuation" && type != "Digits" &&
                        type != "UnicodeScripts";
    llvm::Error error =
        isNormalizer
            ? addNormalizer({pair[0], "it"}, list)
            : addPreTokenizer({pair[0], "it"}, /*leavesBytes=*/false, list);
    ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
    // What a list must have.
    list.addHeader(format::kCutCharacters, StageList::kBothSides,
                   format::CharactersHeader{});
    list.add(format::kJoinBytes, format::kUsedToJoin);
    std::string section = list.build();
    auto stages = TokenizerStages::parse(section, {});
    ASSERT_TRUE(stages.ok()) << stages.message();
    TextParts parts(text, /*tracks=*/false);
    stages->split(parts, TokenizerStages::Side::Source);
    std::string made;
    for (const TextPart &part : parts.all()) {
      made += made.empty() ? "" : std::string(1, '\0');
      made += part.text;
    }
    EXPECT_EQ(digestOf(made), *pair[1].getAsString()) << type.str();
  }
}

//===----------------------------------------------------------------------===//
// What a class makes of the files
//===----------------------------------------------------------------------===//

/// A folder of BERT's tokenizer, and a text that only some normalizers change.
/// Ids are those of the fast tokenizers of transformers 4.57.6.
class WordPieceFolder : public testing::Test {
protected:
  /// The ids of the text with a configuration.
  Ids idsWith(const std::string &config, const char *byDefault) {
    folder.write("tokenizer_config.json", config);
    auto imported = readFolderTokenizer(folder.path(), byDefault, 1);
    EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    EXPECT_EQ(imported->manifest.getString("reason").value_or(""), "");
    LoadedTokenizer tokenizer(*imported, 1000);
    EXPECT_TRUE(bool(tokenizer)) << tokenizer.message();
    return tokenizer.encode("\u00c9A e\u4e00 [MASK]");
  }

  TemporaryFolder folder;
};

TEST_F(WordPieceFolder, OfVocabTxt) {
  folder.write("vocab.txt",
               "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ne\n\n##a\n\u00c9\n##A\n"
               "\u00e9\n\u4e00\nsmall words\n##\u4e00\r\n<s>\n</s>\n<pad>\n"
               "<mask>");
  EXPECT_EQ(idsWith("{}", "BertTokenizer"), (Ids{2, 5, 7, 5, 11, 4, 3}));
  EXPECT_EQ(idsWith(R"({"do_lower_case": false})", "BertTokenizer"),
            (Ids{2, 8, 9, 5, 11, 4, 3}));
  EXPECT_EQ(idsWith(R"({"strip_accents": false})", "BertTokenizer"),
            (Ids{2, 10, 7, 5, 11, 4, 3}));
  EXPECT_EQ(idsWith(R"({"tokenize_chinese_chars": false})", "BertTokenizer"),
            (Ids{2, 5, 7, 5, 13, 4, 3}));
  EXPECT_EQ(idsWith(R"({"cls_token": "[SEP]", "unk_token": "[PAD]"})",
                    "ElectraTokenizer"),
            (Ids{3, 5, 7, 5, 11, 4, 3}));
  // A special token that the class has none of by default.
  EXPECT_EQ(idsWith(R"({"bos_token": "\u00c9A"})", "BertTokenizer"),
            (Ids{2, 18, 5, 11, 4, 3}));
  EXPECT_EQ(idsWith(R"({"tokenizer_class": "MPNetTokenizerFast"})", ""),
            (Ids{14, 5, 7, 5, 11, 1, 1, 1, 15}));
  // What stands around a text has the id that a file gives it.
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[SEP]\ne\n");
  folder.write("added_tokens.json", R"({"[CLS]": 9, "x": 4})");
  EXPECT_EQ(idsWith("{}", "BertTokenizer"), (Ids{9, 1, 3, 1, 6, 2}));
  folder.write("added_tokens.json", "{}");
  EXPECT_EQ(idsWith("{}", "BertTokenizer"), (Ids{4, 1, 3, 1, 5, 2}));
  // Python ends a line at each of these.
  folder.write("vocab.txt", "[PAD]\r[UNK]\r\n[CLS]\n[SEP]\r\r\ne\r##a");
  EXPECT_EQ(idsWith("{}", "BertTokenizer"), (Ids{2, 5, 6, 5, 1, 7, 3}));
  folder.write("vocab.txt", "[PAD]\n\xFF\n");
  auto damaged = readFolderTokenizer(folder.path(), "BertTokenizer", 1);
  std::string sentence = llvm::toString(damaged.takeError());
  EXPECT_EQ(sentence.substr(sentence.find("vocab.txt")),
            "vocab.txt' has no UTF-8 in line 2");
}

TEST_F(WordPieceFolder, OfTokenizerJsonWithAnotherNormalizer) {
  folder.write("tokenizer.json", R"({"added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "lowercase": false,
      "clean_text": true, "handle_chinese_chars": false, "strip_accents": null},
    "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": null,
    "post_processor": null, "model": {"type": "WordPiece", "unk_token": "[UNK]",
      "max_input_chars_per_word": 100, "continuing_subword_prefix": "##",
      "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4,
                "x": 6, "y": 10, "z": 12, "e": 5, "##a": 7, "\u00c9": 8,
                "##A": 9, "\u4e00": 11, "##\u4e00": 13}}})");
  EXPECT_EQ(idsWith("{}", "BertTokenizer"), (Ids{5, 7, 5, 11, 4}));
  EXPECT_EQ(idsWith(R"({"do_lower_case": false})", "BertTokenizer"),
            (Ids{8, 9, 5, 11, 4}));
  // MPNet leaves Chinese characters to the file.
  EXPECT_EQ(idsWith("{}", "MPNetTokenizer"), (Ids{5, 7, 5, 13, 1, 1, 1}));
  EXPECT_EQ(idsWith(R"({"tokenizer_class": "PreTrainedTokenizerFast"})", ""),
            (Ids{8, 9, 5, 13, 1, 1, 1}));
}

// Llama's classes say which tokens stand around a text, whatever the file says.
TEST(LanguageModelFolder, TokensAroundATextFollowFlags) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", R"({"added_tokens": [], "normalizer": null,
    "pre_tokenizer": null, "decoder": null, "post_processor": {"type": "Odd"},
    "model": {"type": "BPE", "unk_token": "<unk>", "merges": [], "vocab":
      {"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3, "<bos>": 4, "<eos>": 5,
       "<pad>": 6, "<|endoftext|>": 7}}})");
  auto idsWith = [&](const char *name, const std::string &config,
                     const char *text = "a") {
    folder.write("tokenizer_config.json", config);
    auto imported = readFolderTokenizer(folder.path(), name, 8);
    EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    LoadedTokenizer tokenizer(*imported, 9);
    EXPECT_TRUE(bool(tokenizer)) << tokenizer.message();
    return tokenizer.encode(text);
  };
  EXPECT_EQ(idsWith("LlamaTokenizer", "{}"), (Ids{1, 3}));
  EXPECT_EQ(idsWith("LlamaTokenizer",
                    R"({"add_bos_token": false, "add_eos_token": true})"),
            (Ids{3, 2}));
  EXPECT_EQ(idsWith("LlamaTokenizer", R"({"bos_token": "<bos>"})"),
            (Ids{4, 3}));
  EXPECT_EQ(idsWith("GemmaTokenizer", R"({"add_eos_token": true})"),
            (Ids{4, 3, 5}));
  EXPECT_EQ(idsWith("CohereTokenizer", R"({"bos_token": "<bos>"})"),
            (Ids{4, 3}));
  EXPECT_EQ(idsWith("GPTNeoXTokenizer", "{}"), (Ids{3}));
  EXPECT_EQ(idsWith("GPTNeoXTokenizer", R"({"add_bos_token": true})"),
            (Ids{7, 3}));
  EXPECT_EQ(idsWith("GPTNeoXTokenizer", R"({"pad_token": "aa"})", "aaa"),
            (Ids{8, 3}));
  folder.write("tokenizer_config.json", R"({"add_prefix_space": false})");
  auto refused = readFolderTokenizer(folder.path(), "LlamaTokenizer", 8);
  ASSERT_TRUE(bool(refused));
  EXPECT_EQ(refused->manifest.getString("reason").value_or("").substr(0, 48),
            "'tokenizer_config.json' has 'add_prefix_space' w");
}

INSTANTIATE_TEST_SUITE_P(
    Tokenizers, ComponentTest,
    testing::Values("bert", "bert-accents", "bert-cased", "bytes",
                    "bytes-behind", "bytes-missing", "bytes-named",
                    "bytes-plain", "bytes-replaced", "bytes-split",
                    "bytes-suffix", "nfd", "nfkc", "nfkd", "pairs-dropped",
                    "pairs-fallback", "pairs-fused", "pairs-prefix",
                    "pairs-suffix", "pairs-unknown", "pairs-zero", "replaced",
                    "scripts", "split-contiguous", "split-merged_with_next",
                    "split-merged_with_previous", "split-removed", "unigram",
                    "unigram-ctc", "unigram-fallback", "unigram-first",
                    "whole-words", "words"),
    [](const auto &info) {
      std::string name = info.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

} // namespace
