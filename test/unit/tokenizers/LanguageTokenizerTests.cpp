//===- LanguageTokenizerTests.cpp - Tokenizers of many languages ----------===//
//
// What transformers makes of texts in several source languages, and of ids:
// make_language_goldens.py.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;
using namespace llvm;

namespace {

const std::string kGoldens = HEDDLE_GOLDENS "/languages/";

const json::Object &goldens() {
  static const json::Value parsed =
      cantFail(json::parse(readFile(kGoldens + "cases.json")));
  return *parsed.getAsObject();
}

std::vector<int32_t> idsOf(const json::Value &row) {
  std::vector<int32_t> ids;
  for (const json::Value &id : *row.getAsArray())
    ids.push_back(int32_t(*id.getAsInteger()));
  return ids;
}

/// A folder of the goldens.
class LanguageFolder {
public:
  explicit LanguageFolder(const json::Object &golden)
      : rows(*golden.getInteger("rows")) {
    for (const auto &[name, content] : *golden.getObject("files"))
      folder.write(name.str(), content.getAsString()
                                   ? content.getAsString()->str()
                                   : formatv("{0}", content).str());
    if (auto model = golden.getString("model"))
      folder.write("sentencepiece.bpe.model",
                   readFile(kGoldens + model->str()));
    if (*golden.getBoolean("numbers"))
      folder.write("vocab.json", readFile(kGoldens + "vocab.json"));
  }

  Expected<ImportedTokenizer> read() {
    return readFolderTokenizer(folder.path(), "M2M100Tokenizer", rows);
  }

  TemporaryFolder folder;
  int64_t rows;
};

TEST(LanguageTokenizers, AgreeWithTransformers) {
  const json::Array &texts = *goldens().getArray("texts");
  for (const json::Value &value : *goldens().getArray("cases")) {
    const json::Object &golden = *value.getAsObject();
    SCOPED_TRACE(golden.getString("name")->str());
    LanguageFolder folder(golden);
    auto imported = folder.read();
    ASSERT_TRUE(bool(imported)) << toString(imported.takeError());
    LoadedTokenizer tokenizer(*imported, folder.rows);
    ASSERT_TRUE(bool(tokenizer)) << tokenizer.message();
    const json::Object &languages = *golden.getObject("languages");
    for (const auto &[name, rows] : *golden.getObject("ids")) {
      std::optional<int32_t> language;
      if (!name.str().empty())
        language = int32_t(*languages.getInteger(name));
      for (auto [text, row] : zip_equal(texts, *rows.getAsArray())) {
        auto found = tokenizer->encode(text.getAsString()->str(), language);
        ASSERT_TRUE(found.ok()) << found.message();
        EXPECT_EQ(*found, idsOf(row))
            << name.str() << ": " << text.getAsString()->str();
      }
    }
    for (auto [row, text] :
         zip_equal(*golden.getArray("drawn"), *golden.getArray("texts")))
      EXPECT_EQ(tokenizer->decode(idsOf(row)), text.getAsString()->str())
          << formatv("{0}", row).str();
  }
}

TEST(LanguageTokenizers, NameTheirLanguages) {
  auto describe = [](StringRef name) {
    for (const json::Value &value : *goldens().getArray("cases"))
      if (value.getAsObject()->getString("name") == name) {
        auto imported = LanguageFolder(*value.getAsObject()).read();
        return imported ? imported->manifest : json::Object();
      }
    return json::Object();
  };
  for (auto [name, language, count, target] :
       {std::tuple("m2m100-listed", "__en__", 100, "forced_bos"),
        std::tuple("m2m100-wmt21", "__ha__", 8, "forced_bos"),
        std::tuple("small100", "__zu__", 100, "source"),
        std::tuple("small100-code", "__zu__", 100, "source"),
        std::tuple("nllb", "zul_Latn", 202, "forced_bos"),
        std::tuple("nllb-whole", "zho_Hant", 6, "forced_bos")}) {
    json::Object manifest = describe(name);
    const json::Array *languages = manifest.getArray("languages");
    ASSERT_TRUE(languages) << name;
    EXPECT_TRUE(is_contained(*languages, json::Value(language))) << name;
    EXPECT_EQ(languages->size(), size_t(count)) << name;
    EXPECT_EQ(manifest.getString("target_language"), StringRef(target)) << name;
  }
}

TEST(M2M100Tokenizer, NamesWhatIsWrongWithAFolder) {
  TemporaryFolder folder;
  auto read = [&] {
    return readFolderTokenizer(folder.path(), "M2M100Tokenizer", 300);
  };
  auto reason = [&] {
    auto imported = read();
    return imported ? imported->manifest.getString("reason").value_or("").str()
                    : "";
  };
  folder.write("tokenizer.json", "{}");
  EXPECT_EQ(reason(), "the folder has 'tokenizer.json', but M2M100Tokenizer "
                      "reads 'sentencepiece.bpe.model' and 'vocab.json'");
  folder.write("sentencepiece.bpe.model",
               readFile(HEDDLE_GOLDENS "/offset/fairseq.model"));
  EXPECT_EQ(reason(), "the folder has 'sentencepiece.bpe.model' but no "
                      "'vocab.json'");
  folder.write("vocab.json",
               R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 5})");
  EXPECT_EQ(reason(), "the piece 'a' has the id 5, which is that of the "
                      "language '__af__'");
  folder.write("vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "a": 3})");
  EXPECT_EQ(sentenceOf(read()),
            "'" + folder.path() + "/vocab.json' has no piece '<unk>'");
  folder.write("vocab.json", readFile(kGoldens + "vocab.json"));
  std::string config =
      folder.write("tokenizer_config.json", R"({"src_lang": "xx"})");
  std::string sentence = sentenceOf(read());
  EXPECT_EQ(sentence.rfind("'" + config +
                               "' has 'src_lang' with the value "
                               "\"xx\" (supported: af, am, ",
                           0),
            0u)
      << sentence;
  folder.write("tokenizer_config.json", R"({"language_codes": "wmt99"})");
  EXPECT_EQ(reason(), "'tokenizer_config.json' has 'language_codes' with the "
                      "value \"wmt99\" (supported: m2m100, wmt21)");
  folder.write("tokenizer_config.json",
               R"({"additional_special_tokens": ["__zu__"]})");
  EXPECT_EQ(reason(), "the piece '__zu__' has the id 97, which is that of the "
                      "language '__af__'");
}

} // namespace
