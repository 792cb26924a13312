//===- ClassTests.cpp - Classes that read the same files ------------------===//
//
// Ids, the characters that tokens stand for, and types are those of
// transformers' fast tokenizers, see test/goldens/make_class_goldens.py.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using llvm::json::Array;
using llvm::json::Object;

namespace {

std::string readGolden(const std::string &name) {
  return readFile(HEDDLE_GOLDENS "/classes/" + name);
}

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

/// Compares one class with a case.
void check(llvm::StringRef name, const Object &golden, const Array &texts) {
  TemporaryFolder folder;
  std::string file = golden.getString("file")->str();
  Object config = *golden.getObject("config");
  config["tokenizer_class"] = name;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(config));
  SCOPED_TRACE(file + " " + text);
  folder.write("tokenizer_config.json", text);
  folder.write(file == "vocab.txt" ? file : "tokenizer.json", readGolden(file));
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
  for (auto [line, ids] : llvm::zip_equal(texts, *golden.getArray("ids")))
    EXPECT_EQ(encode({*line.getAsString()}).ids, numbersOf(ids))
        << line.getAsString()->str();
  std::string last = texts.back().getAsString()->str();
  TextEncoding made = encode({last});
  CharacterRanges ranges(last);
  std::vector<int64_t> spans;
  for (auto [which, range] : llvm::zip_equal(made.texts, made.ranges))
    if (which < 0)
      spans.insert(spans.end(), {0, 0});
    else
      ranges.append(range, spans);
  EXPECT_EQ(spans, numbersOf<int64_t>(*golden.get("spans")));
  TextEncoding pair = encode({"a", "b"});
  const Array &both = *golden.getArray("pair");
  EXPECT_EQ(pair.ids, numbersOf(both[0]));
  EXPECT_EQ(pair.types, numbersOf(both[1]));
}

TEST(TokenizerClasses, AreThoseOfTransformers) {
  auto texts = parse(readGolden("texts.json")),
       cases = parse(readGolden("cases.json"));
  size_t count = 0;
  for (const llvm::json::Value &value : *cases.getAsArray())
    for (const llvm::json::Value &name :
         *value.getAsObject()->getArray("classes")) {
      check(*name.getAsString(), *value.getAsObject(), *texts.getAsArray());
      ++count;
    }
  EXPECT_GT(count, 200u);
}

TEST(TokenizerClasses, RefuseWhatTheyWouldChangeFurther) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", readGolden("words.json"));
  auto reasonOf = [&](const std::string &config) {
    folder.write("tokenizer_config.json", config);
    auto imported = readFolderTokenizer(folder.path(), "", 1);
    EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    return imported->manifest.getString("reason").value_or("").str();
  };
  EXPECT_EQ(reasonOf(R"({"tokenizer_class": "BloomTokenizer",
                         "add_prefix_space": true})"),
            "'tokenizer_config.json' has 'add_prefix_space' with the value "
            "true (supported: false)");
  EXPECT_EQ(reasonOf(R"({"tokenizer_class": "SplinterTokenizer",
                         "additional_special_tokens": ["a"]})"),
            "'tokenizer_config.json' has 'additional_special_tokens' with the "
            "value [\"a\"] (supported: none of SplinterTokenizer)");
  EXPECT_EQ(reasonOf(R"({"tokenizer_class": "SplinterTokenizer",
                         "question_token": null})"),
            "'tokenizer_config.json' has 'question_token' with the value null "
            "(supported: a text)");
}

TEST(FolderTokenizer, NamesClassesThatOnlyCodeMakes) {
  TemporaryFolder folder;
  auto reasonOfClass = [&](llvm::StringRef name) {
    auto imported = readFolderTokenizer(folder.path(), name, 701);
    EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    return imported->manifest.getString("reason").value_or("").str();
  };
  EXPECT_EQ(reasonOfClass("FSMTTokenizer"), "");
  folder.write("vocab-src.json", "{}");
  EXPECT_EQ(reasonOfClass("FSMTTokenizer"),
            "the folder has 'vocab-src.json' for FSMTTokenizer, which "
            "separates words by the rules of Moses, and Heddle does not");
  folder.write("sentencepiece.bpe.model", "");
  EXPECT_EQ(reasonOfClass("PLBartTokenizer"),
            "the folder has 'sentencepiece.bpe.model' for PLBartTokenizer, "
            "which numbers pieces and languages of programs by its code, and "
            "Heddle does not");
}

} // namespace
