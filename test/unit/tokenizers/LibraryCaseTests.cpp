//===- LibraryCaseTests.cpp - Traps of tokenizer.json ---------------------===//
//
// Small tokenizers with texts that they have a trap for, and digests of what
// becomes of all code points: see test/goldens/make_component_goldens.py.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Json/Readers.h"
#include "runtime/tokenizer/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA1.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using llvm::json::Array;

namespace {

llvm::json::Value readGolden(const std::string &name) {
  auto parsed =
      llvm::json::parse(readFile(HEDDLE_GOLDENS "/components/" + name));
  EXPECT_TRUE(bool(parsed)) << name;
  return parsed ? *parsed : llvm::json::Value(nullptr);
}

std::vector<int64_t> numbersOf(const llvm::json::Value &list) {
  std::vector<int64_t> numbers;
  for (const llvm::json::Value &number : *list.getAsArray())
    numbers.push_back(*number.getAsInteger());
  return numbers;
}

std::string textOf(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// The tokenizer of a folder with a tokenizer.json alone.
std::unique_ptr<LoadedTokenizer> load(const std::string &json) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", json);
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  auto imported = readFolderTokenizer(folder.path(), "", 1);
  EXPECT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  EXPECT_EQ(imported->manifest.getString("reason").value_or(""), "");
  auto loaded = std::make_unique<LoadedTokenizer>(*imported, 1000);
  EXPECT_TRUE(bool(*loaded)) << loaded->message();
  return loaded;
}

TEST(LibraryCases, AreThoseOfTheLibrary) {
  auto cases = readGolden("cases.json");
  for (const llvm::json::Value &golden : *cases.getAsArray()) {
    const Array &parts = *golden.getAsArray();
    const std::string json = textOf(parts[0]);
    auto tokenizer = load(json);
    for (const llvm::json::Value &value : *parts[1].getAsArray()) {
      const Array &expected = *value.getAsArray();
      std::string text = expected[0].getAsString()->str();
      auto windows = (*tokenizer)
                         ->encodeWindows({text}, std::nullopt,
                                         /*tracks=*/true);
      ASSERT_TRUE(windows.ok()) << windows.message();
      const TextEncoding &made = windows->front();
      CharacterRanges ranges(text);
      std::vector<int64_t> ids(made.ids.begin(), made.ids.end()), spans;
      for (auto [from, range] : llvm::zip_equal(made.texts, made.ranges))
        if (from < 0)
          spans.insert(spans.end(), {0, 0});
        else
          ranges.append(range, spans);
      EXPECT_EQ(ids, numbersOf(expected[1])) << text << json;
      EXPECT_EQ(spans, numbersOf(expected[2])) << text << json;
    }
    for (const llvm::json::Value &value : *parts[2].getAsArray()) {
      const Array &expected = *value.getAsArray();
      std::vector<int64_t> ids = numbersOf(expected[0]);
      EXPECT_EQ((*tokenizer)->decode({ids.begin(), ids.end()}),
                *expected[1].getAsString())
          << json;
    }
  }
}

//===----------------------------------------------------------------------===//
// All code points
//===----------------------------------------------------------------------===//

/// A text with each of 1,112,064 code points in place of @, each behind a line
/// feed.
std::string textOfAll(llvm::StringRef form) {
  auto [before, behind] = form.split('@');
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF)
      continue;
    text.append("\n").append(before.data(), before.size());
    appendUtf8(c, text);
    text.append(behind.data(), behind.size());
  }
  return text;
}

/// Of the texts of all parts that stages make of a text.
std::string digestOf(const std::string &text, const StageList &stages) {
  StageList list = stages;
  // What a list must have.
  list.addHeader(format::kCutCharacters, StageList::kBothSides,
                 format::CharactersHeader{});
  list.add(format::kJoinBytes, format::kUsedToJoin);
  std::string section = list.build();
  auto parsed = TokenizerStages::parse(section, {});
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  TextParts parts(text, /*tracks=*/false);
  parsed->split(parts, TokenizerStages::Side::Source);
  llvm::SHA1 hash;
  for (const TextPart &part : parts.all()) {
    if (&part != parts.all().data())
      hash.update(llvm::StringRef("\0", 1));
    hash.update(llvm::StringRef(part.text.data(), part.text.size()));
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

TEST(AllCodePoints, MakeTheClustersOfTheLibrary) {
  auto golden = readGolden("clusters.json");
  const Array &parts = *golden.getAsArray();
  StageList stages;
  llvm::Error error = addNormalizer({parts[0], "it"}, stages);
  ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  for (const llvm::json::Value &entry : *parts[1].getAsArray()) {
    llvm::StringRef form = *(*entry.getAsArray())[0].getAsString();
    EXPECT_EQ(digestOf(textOfAll(form), stages),
              *(*entry.getAsArray())[1].getAsString())
        << form.str();
  }
}

TEST(AllCodePoints, AreWordsAsInTheLibrary) {
  AddedTokenTable table;
  table.entries.push_back({0, {}});
  table.entries[0].form.content = "<x>";
  table.entries[0].form.isWord = true;
  StageList stages;
  stages.add(format::kFindTokens, StageList::kBothSides,
             buildAddedTokens(table));
  auto golden = readGolden("words.digests.json");
  for (const llvm::json::Value &entry : *golden.getAsArray()) {
    llvm::StringRef form = *(*entry.getAsArray())[0].getAsString();
    EXPECT_EQ(digestOf(textOfAll(form), stages),
              *(*entry.getAsArray())[1].getAsString())
        << form.str();
  }
}

} // namespace
