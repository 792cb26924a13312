//===- ByteLevelTests.cpp - Byte pairs beside transformers ----------------===//

#include "TokenizerLoader.h"
#include "lib/Import/Tokenizers/Classes/ByteLevelTokenizer.h"
#include "runtime/tokenizer/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string kGoldens = HEDDLE_GOLDENS "/byte-level/";
constexpr int64_t kVocabulary = 701;

/// The lines of a golden.
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

/// A folder as the importer reads it and the runtime uses it.
class ByteLevel : public testing::Test {
protected:
  /// Copies files of the golden.
  void add(llvm::ArrayRef<const char *> names) {
    for (const char *name : names)
      folder.write(name, readFile(kGoldens + name));
  }

  /// The sentence of a failure, without the folder's path.
  std::string load() {
    auto files = readTokenizerFiles(folder.path());
    if (!files)
      return sentence(files.takeError());
    auto read = readByteLevelTokenizer(*files, kVocabulary);
    if (!read)
      return sentence(read.takeError());
    imported = std::move(*read);
    if (imported.sections.empty())
      return "none";
    tokenizer.emplace(imported, kVocabulary);
    return tokenizer->message();
  }

  std::string sentence(llvm::Error error) const {
    std::string text = llvm::toString(std::move(error));
    for (size_t at; (at = text.find(folder.path())) != std::string::npos;)
      text.replace(at, folder.path().size(), "F");
    return text;
  }

  std::vector<int32_t> encode(const std::string &text) {
    return tokenizer->encode(text);
  }

  TemporaryFolder folder;
  ImportedTokenizer imported;
  std::optional<LoadedTokenizer> tokenizer;
};

TEST_F(ByteLevel, CutsWordsAsItsPreTokenizerDoes) {
  auto parse = [](const std::string &path) {
    return llvm::cantFail(llvm::json::parse(readFile(HEDDLE_GOLDENS + path)));
  };
  llvm::json::Value splits = parse("/patterns/splits.json"),
                    whole = parse("/byte-level/tokenizer.json");
  for (const llvm::json::Value &entry : *splits.getAsArray()) {
    const llvm::json::Array &pair = *entry.getAsArray();
    (*whole.getAsObject())["pre_tokenizer"] = pair[0];
    std::string text;
    llvm::raw_string_ostream(text) << whole;
    folder.write("tokenizer.json", text);
    ASSERT_EQ(load(), "");
    for (const llvm::json::Value &each : *pair[1].getAsArray()) {
      const llvm::json::Array &encoded = *each.getAsArray();
      std::vector<int32_t> expected;
      for (const llvm::json::Value &id : *encoded[1].getAsArray())
        expected.push_back(int32_t(*id.getAsInteger()));
      auto ids = (*tokenizer)->encodeTarget(*encoded[0].getAsString());
      ASSERT_TRUE(ids.ok()) << ids.message();
      EXPECT_EQ(*ids, expected) << encoded[0].getAsString()->str();
    }
  }
}

TEST_F(ByteLevel, EncodesAsTransformersDoes) {
  add({"vocab.json", "merges.txt"});
  ASSERT_EQ(load(), "");
  std::vector<std::string> texts = readLines("texts"), ids = readLines("ids");
  ASSERT_EQ(texts.size(), ids.size());
  for (auto [text, row] : llvm::zip(texts, ids))
    EXPECT_EQ(encode(text), parseIds(row)) << text;
}

TEST_F(ByteLevel, DecodesAsTransformersDoes) {
  add({"vocab.json", "merges.txt"});
  for (bool cleansUp : {false, true}) {
    if (cleansUp)
      folder.write("tokenizer_config.json",
                   R"({"clean_up_tokenization_spaces": true})");
    ASSERT_EQ(load(), "");
    std::vector<std::string> expected =
        readLines(cleansUp ? "cleaned" : "decoded");
    for (auto [row, text] : llvm::zip_equal(readLines("ids"), expected)) {
      std::vector<int32_t> ids = parseIds(row), cut;
      for (size_t i = 1; ids.size() % 2 && i < ids.size(); i += 2)
        cut.push_back(ids[i]);
      EXPECT_EQ((*tokenizer)->decode(ids.size() % 2 ? cut : ids), text) << row;
    }
  }
}

//===----------------------------------------------------------------------===//
// Lines that make_byte_level_goldens.py draws, too
//===----------------------------------------------------------------------===//

/// First and last characters of scripts.
constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
    {0x20, 0x7e},      {0xa0, 0x24f},    {0x300, 0x36f},   {0x400, 0x4ff},
    {0x5d0, 0x5ea},    {0x621, 0x64a},   {0x904, 0x939},   {0xe01, 0xe30},
    {0x1e00, 0x1eff},  {0x2000, 0x206f}, {0x2150, 0x2188}, {0x3041, 0x3096},
    {0x4e00, 0x9fa5},  {0xac00, 0xd7a3}, {0xff01, 0xff5e}, {0x1d400, 0x1d454},
    {0x1f300, 0x1f5ff}};

std::string drawLine(uint64_t state, const std::vector<std::string> &lines) {
  auto below = [&](uint64_t bound) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % bound;
  };
  std::string line;
  for (uint64_t parts = 1 + below(8); parts > 0; --parts) {
    uint64_t kind = below(4);
    if (kind < 2) {
      const std::string &text = lines[below(lines.size())];
      uint64_t begin = below(text.size() + 1);
      line += text.substr(begin, below(24));
    } else if (kind == 2) {
      auto [first, last] = kRanges[below(std::size(kRanges))];
      for (uint64_t count = 1 + below(4); count > 0; --count)
        line += toUtf8(first + uint32_t(below(last - first + 1)));
    } else {
      line += char(below(256));
    }
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

template <typename Numbers> uint64_t fold(const Numbers &numbers) {
  uint64_t digest = 0;
  for (auto number : numbers)
    digest = digest * 31 + number;
  return digest;
}

TEST_F(ByteLevel, DrawnLinesAreThoseOfTransformers) {
  add({"vocab.json", "merges.txt"});
  ASSERT_EQ(load(), "");
  std::vector<std::string> texts = readLines("texts");
  uint64_t number = 0;
  for (const std::string &digest : readLines("drawn.digests")) {
    std::vector<int32_t> ids;
    std::vector<uint8_t> text;
    for (int i = 0; i < 100; ++i) {
      std::vector<int32_t> row = encode(drawLine(number++, texts));
      ids.insert(ids.end(), row.begin(), row.end());
      std::string joined = (*tokenizer)->decode(row);
      text.insert(text.end(), joined.begin(), joined.end());
    }
    EXPECT_EQ(
        llvm::formatv("{0} {1} {2}", ids.size(), fold(ids), fold(text)).str(),
        digest)
        << "of lines before " << number;
  }
  EXPECT_EQ(number, 20000u);
}

TEST_F(ByteLevel, TakesWordsOfAnyLength) {
  add({"vocab.json", "merges.txt"});
  ASSERT_EQ(load(), "");
  std::vector<int32_t> ids = encode(readLines("long").front());
  uint64_t digest = 0;
  for (int32_t id : ids)
    digest = digest * 31 + uint64_t(id);
  EXPECT_EQ(std::to_string(ids.size()) + " " + std::to_string(digest),
            readLines("long.digest").front());
}

TEST_F(ByteLevel, ReadsTokenizerJson) {
  add({"vocab.json", "merges.txt"});
  ASSERT_EQ(load(), "");
  const std::string text = "The <mask></s> fox <s>, é<unk>.";
  const std::vector<int32_t> ids = encode(text);
  ImportedTokenizer plain = std::move(imported);
  llvm::sys::fs::remove(folder.path() + "/merges.txt");
  add({"tokenizer.json"});
  ASSERT_EQ(load(), "");
  EXPECT_EQ(imported.manifest, plain.manifest);
  // Added tokens stand there in another order, which counts for nothing here.
  EXPECT_EQ(imported.sections[0].bytes.size(), plain.sections[0].bytes.size());
  EXPECT_EQ(encode(text), ids);
}

TEST_F(ByteLevel, NumbersAddedTokensAsTheFastTokenizerDoes) {
  // Those that the vocabulary lacks come behind it, in the order of the ids
  // that files give them; <mask> comes last, as no file has it. Of two tokens
  // at one place the longer counts. A byte that is no piece is nothing.
  folder.write("added_tokens.json", R"({"<a>": 700, "<a><b>": 699})");
  folder.write("vocab.json",
               R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"x":4,"Ġ":5})");
  folder.write("merges.txt", "#version: 0.2\n");
  ASSERT_EQ(load(), "");
  EXPECT_EQ(encode("x<a><b>x <a>xy<mask>"),
            (std::vector<int32_t>{0, 4, 6, 4, 5, 7, 4, 8, 2}));
  EXPECT_EQ((*tokenizer)->decode({0, 4, 7, 8, 3, 2}), "x<a>");
}

TEST_F(ByteLevel, NamesWhatItDoesNotRead) {
  EXPECT_EQ(load(), "none");
  add({"merges.txt"});
  EXPECT_EQ(load(), "the folder has 'merges.txt' but no 'vocab.json'");
  add({"vocab.json"});
  llvm::sys::fs::remove(folder.path() + "/merges.txt");
  EXPECT_EQ(load(), "the folder has 'vocab.json' but no 'merges.txt'");
  add({"merges.txt"});
  auto withConfig = [&](const std::string &config) {
    folder.write("tokenizer_config.json", config);
    return load();
  };
  EXPECT_EQ(withConfig(R"({"split_special_tokens": true})"),
            "'tokenizer_config.json' has 'split_special_tokens' with the value "
            "true (supported: false)");
  EXPECT_EQ(withConfig(R"({"mask_token": 5})"),
            "'F/tokenizer_config.json' has 'mask_token' with the value 5 "
            "(expected a token)");
  EXPECT_EQ(withConfig(R"({"cls_token": "<cls>"})"), "");
  withConfig("{}");
  folder.write("merges.txt", "#version: 0.2\nt h e\n");
  EXPECT_EQ(load(),
            "'F/merges.txt' has the line 't h e' (expected two pieces)");
  folder.write("merges.txt", "#version: 0.2\nQ @\n");
  EXPECT_EQ(load(), "'F/vocab.json' has no piece 'Q@', which merging 'Q' with "
                    "'@' needs");
}

TEST_F(ByteLevel, RefusesDamagedSections) {
  add({"vocab.json", "merges.txt"});
  ASSERT_EQ(load(), "");
  const std::string &section = imported.sections[0].bytes;
  for (size_t size = 0; size < section.size(); size += 97)
    EXPECT_FALSE(TokenizerStages::parse(section.substr(0, size), {}).ok());
  // Words of what is accepted stay within the tables.
  for (size_t at = 0; at < section.size(); at += at < 2048 ? 1 : 29) {
    std::string damaged = section;
    damaged[at] = char(damaged[at] ^ 0x55);
    auto stages = TokenizerStages::parse(damaged, {});
    std::vector<Piece> pieces;
    if (stages.ok())
      stages->cut(" the quick <mask> fox", TokenizerStages::Side::Source,
                  /*tracks=*/true, pieces);
  }
}

TEST(Utf8, ReadsOneReplacementForEachMaximalPart) {
  // Table 3-8 of the Unicode standard, 15.0, and ends within a character.
  EXPECT_EQ(repairUtf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(repairUtf8("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(repairUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_TRUE(isUtf8("a\uFFFD\U0010FFFF"));
  EXPECT_FALSE(isUtf8("a\xFF"));
}

} // namespace
