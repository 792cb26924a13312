//===- ConversionTests.cpp - Classes with a SentencePiece model alone -----===//
//
// Ids, types and joined texts are those of transformers' fast tokenizers, see
// test/goldens/make_conversion_goldens.py.
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
using Ids = std::vector<int32_t>;

namespace {

const std::string kGoldens = HEDDLE_GOLDENS "/";

llvm::json::Value readGolden(const std::string &name) {
  auto parsed = llvm::json::parse(readFile(kGoldens + "converted/" + name));
  EXPECT_TRUE(bool(parsed)) << name;
  return parsed ? *parsed : llvm::json::Value(nullptr);
}

Ids idsOf(const llvm::json::Value &list) {
  Ids ids;
  for (const llvm::json::Value &id : *list.getAsArray())
    ids.push_back(int32_t(*id.getAsInteger()));
  return ids;
}

TEST(ConvertedModels, AreThoseOfTransformers) {
  auto texts = readGolden("texts.json"), classes = readGolden("classes.json");
  for (const llvm::json::Value &value : *classes.getAsArray()) {
    const llvm::json::Object &golden = *value.getAsObject();
    TemporaryFolder folder;
    std::string all;
    for (const auto &[file, content] : *golden.getObject("files")) {
      std::string text;
      llvm::raw_string_ostream(text) << content;
      folder.write(file.str(), text);
      all += text;
    }
    SCOPED_TRACE(all);
    folder.write(golden.getString("place")->str(),
                 readFile(kGoldens + golden.getString("model")->str()));
    auto imported = readFolderTokenizer(folder.path(), "", 1);
    ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
    ASSERT_EQ(imported->manifest.getString("reason").value_or(""), "");
    LoadedTokenizer tokenizer(*imported, 1000);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
    for (auto [text, ids] :
         llvm::zip_equal(*texts.getAsArray(), *golden.getArray("ids"))) {
      auto windows =
          tokenizer->encodeWindows({*text.getAsString()}, std::nullopt, false);
      ASSERT_TRUE(windows.ok()) << windows.message();
      EXPECT_EQ(windows->front().ids, idsOf(ids)) << text.getAsString()->str();
    }
    for (const llvm::json::Value &pair : *golden.getArray("pairs")) {
      const Array &parts = *pair.getAsArray();
      auto windows = tokenizer->encodeWindows(
          {*parts[0].getAsString(), *parts[1].getAsString()}, std::nullopt,
          false);
      ASSERT_TRUE(windows.ok()) << windows.message();
      EXPECT_EQ(windows->front().ids, idsOf(parts[2]));
      EXPECT_EQ(windows->front().types, idsOf(parts[3]));
    }
    for (const llvm::json::Value &pair : *golden.getArray("decoded")) {
      const Array &parts = *pair.getAsArray();
      EXPECT_EQ(tokenizer->decode(idsOf(parts[0])), *parts[1].getAsString());
    }
  }
}

} // namespace
