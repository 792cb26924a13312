//===- ByteTokenizerTests.cpp - A token for each byte ---------------------===//
//
// Ids and texts are those of transformers' ByT5Tokenizer, see
// test/goldens/make_byte_token_goldens.py.
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

std::vector<int32_t> idsOf(const llvm::json::Value &list) {
  std::vector<int32_t> ids;
  for (const llvm::json::Value &id : *list.getAsArray())
    ids.push_back(int32_t(*id.getAsInteger()));
  return ids;
}

std::string textOf(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

void check(const Object &golden, const Array &texts) {
  TemporaryFolder folder;
  const Object &files = *golden.getObject("files");
  SCOPED_TRACE(textOf(Object(files)));
  for (const auto &[name, content] : files)
    folder.write(name.str(), textOf(content));
  auto imported = readFolderTokenizer(folder.path(), "T5Tokenizer", 384);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  ASSERT_EQ(imported->manifest.getString("reason").value_or(""), "");
  LoadedTokenizer tokenizer(*imported, 1000);
  ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
  auto encode = [&](const TextPair &pair) {
    auto windows =
        tokenizer->encodeWindows(pair, std::nullopt, /*tracks=*/true);
    EXPECT_TRUE(windows.ok()) << windows.message();
    return windows.ok() ? windows->front().ids : std::vector<int32_t>();
  };
  for (auto [line, ids] : llvm::zip_equal(texts, *golden.getArray("ids"))) {
    std::string text = line.getAsString()->str();
    EXPECT_EQ(encode({text}), idsOf(ids)) << text;
    // A line without text stays one.
    EXPECT_EQ(tokenizer.encode(text),
              text.empty() ? std::vector<int32_t>() : idsOf(ids))
        << text;
  }
  EXPECT_EQ(encode({"a</s>", "b"}), idsOf(*golden.get("pair")));
  for (const llvm::json::Value &row : *golden.getArray("decoded")) {
    const Array &parts = *row.getAsArray();
    EXPECT_EQ(tokenizer->decode(idsOf(parts[0])), *parts[1].getAsString())
        << textOf(parts[0]);
  }
}

TEST(ByteTokenizer, IsThatOfTransformers) {
  auto golden =
      llvm::json::parse(readFile(HEDDLE_GOLDENS "/byte-tokens/cases.json"));
  ASSERT_TRUE(bool(golden)) << llvm::toString(golden.takeError());
  const Array &cases = *golden->getAsObject()->getArray("cases");
  EXPECT_EQ(cases.size(), 7u);
  for (const llvm::json::Value &each : cases)
    check(*each.getAsObject(), *golden->getAsObject()->getArray("texts"));
}

/// Why a folder with this tokenizer_config.json has no tokenizer.
std::string reasonAgainst(const std::string &fields, int64_t vocabulary = 384) {
  TemporaryFolder folder;
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "ByT5Tokenizer")" + fields + "}");
  auto imported = readFolderTokenizer(folder.path(), "", vocabulary);
  std::string reason =
      imported ? imported->manifest.getString("reason").value_or("").str()
               : llvm::toString(imported.takeError());
  size_t path = reason.find(folder.path());
  return path == std::string::npos
             ? reason
             : reason.erase(path, folder.path().size() + 1);
}

TEST(ByteTokenizer, SaysWhatDoesNotFit) {
  EXPECT_EQ(reasonAgainst(""), "");
  EXPECT_EQ(reasonAgainst("", 258),
            "the vocabulary has 258 ids, expected at least the 259 of "
            "ByT5Tokenizer's bytes");
  EXPECT_EQ(reasonAgainst(R"(, "extra_ids": "many")"),
            "'tokenizer_config.json' has 'extra_ids' with the value \"many\" "
            "(supported: a number of tokens)");
  EXPECT_EQ(reasonAgainst(R"(, "additional_special_tokens": ["<extra_id_0>"])"),
            "'tokenizer_config.json' has 1 extra ids among "
            "additional_special_tokens, expected 125, as many as extra_ids "
            "says");
  EXPECT_EQ(reasonAgainst(R"(, "added_tokens_decoder": {"384": {"content": )"
                          R"("<x>", "special": false}})"),
            "the token '<x>' was added without being special, which text of "
            "ByT5Tokenizer stands apart from");
}

} // namespace
