//===- BytePairTests.cpp - Classes with vocab.json and merges.txt ---------===//
//
// Ids, the characters that tokens stand for, types and joined texts are those
// of transformers' fast tokenizers, see test/goldens/make_byte_pair_goldens.py.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/MergesFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using llvm::json::Array;
using llvm::json::Object;
using Ids = std::vector<int32_t>;

namespace {

const std::string kGoldens = HEDDLE_GOLDENS "/";

llvm::json::Value parse(const std::string &text) {
  auto parsed = llvm::json::parse(text);
  EXPECT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  return parsed ? *parsed : llvm::json::Value(nullptr);
}

template <typename Number = int32_t>
std::vector<Number> numbersOf(const llvm::json::Value &list) {
  std::vector<Number> numbers;
  for (const llvm::json::Value &number : *list.getAsArray())
    numbers.push_back(Number(*number.getAsInteger()));
  return numbers;
}

/// A file of a case; tokenizer.json gets the pieces back that its folder has.
std::string contentOf(llvm::StringRef file, const llvm::json::Value &golden,
                      const std::string &model) {
  if (auto text = golden.getAsString())
    return text->str();
  llvm::json::Value content = golden;
  if (file == "tokenizer.json") {
    Object &into = *content.getAsObject()->getObject("model");
    into["vocab"] = parse(readFile(model + "vocab.json"));
    auto merges = readMergesFile(model + "merges.txt", MergeLines::BehindFirst);
    EXPECT_TRUE(bool(merges)) << llvm::toString(merges.takeError());
    into["merges"] = std::move(*merges);
  }
  std::string text;
  llvm::raw_string_ostream(text) << content;
  return text;
}

void fill(TemporaryFolder &folder, const Object &golden) {
  const Object &files = *golden.getObject("files");
  std::string model;
  if (auto name = golden.getString("model"))
    model = kGoldens + name->str() + "/";
  if (!model.empty() && !files.get("tokenizer.json"))
    for (const char *file : {"vocab.json", "merges.txt"})
      folder.write(file, readFile(model + file));
  for (const auto &[file, content] : files)
    folder.write(file.str(), contentOf(file, content, model));
}

void check(const Object &golden, const Array &texts) {
  TemporaryFolder folder;
  fill(folder, golden);
  auto imported = readFolderTokenizer(folder.path(), "", 1);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  ASSERT_EQ(imported->manifest.getString("reason").value_or(""), "");
  LoadedTokenizer tokenizer(*imported, 1000);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  auto encode = [&](const TextPair &pair) {
    auto windows =
        tokenizer->encodeWindows(pair, std::nullopt, /*tracks=*/true);
    EXPECT_TRUE(windows.ok()) << windows.message();
    return windows.ok() ? windows->front() : TextEncoding();
  };
  for (auto [line, tokens] : llvm::zip(texts, *golden.getArray("tokens"))) {
    std::string text = line.getAsString()->str();
    const Array &expected = *tokens.getAsArray();
    TextEncoding made = encode({text});
    EXPECT_EQ(made.ids, numbersOf(expected[0])) << text;
    CharacterRanges ranges(text);
    std::vector<int64_t> spans;
    for (auto [which, range] : llvm::zip_equal(made.texts, made.ranges))
      if (which < 0)
        spans.insert(spans.end(), {0, 0});
      else
        ranges.append(range, spans);
    EXPECT_EQ(spans, numbersOf<int64_t>(expected[1])) << text;
  }
  for (const llvm::json::Value &pair : *golden.getArray("pairs")) {
    const Array &parts = *pair.getAsArray();
    TextEncoding made =
        encode({*parts[0].getAsString(), *parts[1].getAsString()});
    EXPECT_EQ(made.ids, numbersOf(parts[2]));
    EXPECT_EQ(made.types, numbersOf(parts[3]));
  }
  for (const llvm::json::Value &pair : *golden.getArray("decoded")) {
    const Array &parts = *pair.getAsArray();
    EXPECT_EQ(tokenizer->decode(numbersOf(parts[0])), *parts[1].getAsString())
        << testing::PrintToString(numbersOf(parts[0]));
  }
}

TEST(BytePairs, AreThoseOfTransformers) {
  auto texts = parse(readFile(kGoldens + "byte-pairs/texts.json")),
       cases = parse(readFile(kGoldens + "byte-pairs/cases.json"));
  EXPECT_GT(cases.getAsArray()->size(), 40u);
  for (auto [number, value] : llvm::enumerate(*cases.getAsArray())) {
    const Object &golden = *value.getAsObject();
    SCOPED_TRACE(std::to_string(number) + ": " +
                 golden.getObject("files")
                     ->getObject("tokenizer_config.json")
                     ->getString("tokenizer_class")
                     ->str());
    const Array *own = golden.getArray("texts");
    check(golden, own ? *own : *texts.getAsArray());
  }
}

//===----------------------------------------------------------------------===//
// merges.txt
//===----------------------------------------------------------------------===//

TEST(MergesFile, ClipReadsAsManyAsItWasTrainedWith) {
  TemporaryFolder folder;
  auto countOf = [&](size_t count) {
    std::string text = "\n #version: 0.2\n";
    for (size_t i = 0; i < count; ++i)
      text += "a " + std::to_string(i) + "\n";
    auto merges =
        readMergesFile(folder.write("merges.txt", text), MergeLines::OfClip);
    EXPECT_TRUE(bool(merges)) << llvm::toString(merges.takeError());
    return merges->size();
  };
  EXPECT_EQ(countOf(10), 10u);
  EXPECT_EQ(countOf(48894), 48894u);
  EXPECT_EQ(countOf(48895), 48894u);
}

TEST(MergesFile, NamesLinesThatAreNoMerges) {
  TemporaryFolder folder;
  auto problemOf = [&](const std::string &text, MergeLines lines) {
    std::string path = folder.write("merges.txt", text);
    auto merges = readMergesFile(path, lines);
    if (merges)
      return std::string();
    std::string sentence = llvm::toString(merges.takeError());
    return sentence.substr(sentence.find("merges.txt"));
  };
  for (MergeLines lines : {MergeLines::BehindFirst, MergeLines::BehindVersion,
                           MergeLines::OfClip}) {
    EXPECT_EQ(problemOf("#version: 0.2\na b\n", lines), "");
    EXPECT_EQ(problemOf("#version: 0.2\na b c\n", lines),
              "merges.txt' has the line 'a b c' (expected two pieces)");
    EXPECT_EQ(problemOf("#version: 0.2\nab\n", lines),
              "merges.txt' has the line 'ab' (expected two pieces)");
    EXPECT_EQ(problemOf("#version: 0.2\na \xFF\n", lines),
              "merges.txt' is no UTF-8");
    EXPECT_EQ(problemOf("\xC3", lines), "merges.txt' is no UTF-8");
  }
}

//===----------------------------------------------------------------------===//
// What is not supported
//===----------------------------------------------------------------------===//

/// Why a folder with the files of CLIP has no tokenizer.
class ClassFolder : public testing::Test {
protected:
  ClassFolder() {
    for (const char *file : {"vocab.json", "merges.txt"})
      folder.write(file, readFile(kGoldens + "byte-pairs/clip/" + file));
  }

  std::string reasonOf(const char *name, const std::string &config) {
    folder.write("tokenizer_config.json", config);
    auto imported = readFolderTokenizer(folder.path(), name, 1);
    if (!imported)
      return "error: " + llvm::toString(imported.takeError());
    return imported->manifest.getString("reason").value_or("").str();
  }

  TemporaryFolder folder;
};

TEST_F(ClassFolder, NamesSpecialTokensThatAreMissing) {
  for (auto [name, config, field] :
       {std::tuple("CLIPTokenizer", R"({"bos_token": null})", "bos_token"),
        {"CLIPTokenizer", R"({"eos_token": null})", "eos_token"},
        {"CLIPTokenizer", R"({"unk_token": null})", "unk_token"},
        {"BlenderbotTokenizer", R"({"eos_token": null})", "eos_token"},
        {"DebertaTokenizer",
         R"({"bos_token": null, "cls_token": null, "unk_token": null})",
         "unk_token"},
        {"RobertaTokenizer", R"({"cls_token": null})", "cls_token"},
        {"RobertaTokenizer", R"({"sep_token": null})", "sep_token"},
        {"GPT2Tokenizer", R"({"bos_token": null, "add_bos_token": true})",
         "bos_token"}})
    EXPECT_EQ(reasonOf(name, config),
              std::string("the folder has no '") + field +
                  "', which its class needs without 'tokenizer.json'");
  EXPECT_EQ(reasonOf("GPT2Tokenizer", R"({"bos_token": null})"), "");
  EXPECT_EQ(reasonOf("CLIPTokenizer", R"({"pad_token": null})"), "");
}

TEST_F(ClassFolder, NamesWhatItsClassDoesNotRead) {
  EXPECT_EQ(reasonOf("Qwen2Tokenizer", R"({"add_prefix_space": true})"),
            "'tokenizer_config.json' has 'add_prefix_space' with the value "
            "true (supported: false, without 'tokenizer.json')");
  EXPECT_EQ(reasonOf("CodeGenTokenizer", R"({"add_bos_token": true})"),
            "'tokenizer_config.json' has 'add_bos_token' with the value true "
            "(supported: false of CodeGenTokenizer)");
  std::string sentence =
      reasonOf("CLIPTokenizer", R"({"unk_token": "<unknown>"})");
  EXPECT_EQ(sentence.substr(sentence.find("vocab.json")),
            "vocab.json' has no piece '<unknown>'");
  folder.write("merges.txt", "#version: 0.2\nQ @\n");
  sentence = reasonOf("CLIPTokenizer", "{}");
  EXPECT_EQ(sentence.substr(sentence.find("vocab.json")),
            "vocab.json' has no piece 'Q@', which merging 'Q' with '@' needs");
}

TEST_F(ClassFolder, NamesWhatClipCannotDecode) {
  auto with = [&](const std::string &cutter, const std::string &decoder,
                  const std::string &suffix) {
    folder.write("tokenizer.json", R"({"pre_tokenizer": )" + cutter +
                                       R"(, "decoder": )" + decoder +
                                       R"(, "model": {"type": "BPE",
      "vocab": {"a": 0, "a</w>": 1}, "merges": [], "end_of_word_suffix": )" +
                                       suffix + "}}");
    return reasonOf("CLIPTokenizer", "{}");
  };
  const std::string cutter = R"({"type": "Sequence", "pretokenizers":
      [{"type": "ByteLevel", "add_prefix_space": false}]})",
                    decoder = R"({"type": "ByteLevel"})", suffix = "\"</w>\"";
  EXPECT_EQ(with(cutter, decoder, suffix), "");
  EXPECT_EQ(with(cutter, R"({"type": "BPEDecoder", "suffix": "-"})", suffix),
            "");
  EXPECT_EQ(with(R"({"type": "ByteLevel"})", decoder, suffix),
            "'tokenizer.json' has 'pre_tokenizer' with the value "
            "{\"type\":\"ByteLevel\"} (supported: the Sequence of "
            "CLIPTokenizer)");
  EXPECT_EQ(with(cutter, "null", suffix),
            "'tokenizer.json' has 'decoder' with the value null (supported: a "
            "decoder of CLIPTokenizer)");
  for (const char *none : {"null", "\"\"", "1"})
    EXPECT_EQ(with(cutter, decoder, none),
              std::string("'tokenizer.json' has 'model.end_of_word_suffix' "
                          "with the value ") +
                  none + " (supported: the ends of words of CLIPTokenizer)");
}

} // namespace
