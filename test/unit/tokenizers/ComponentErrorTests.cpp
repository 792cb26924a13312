//===- ComponentErrorTests.cpp - What tokenizer.json must not say ---------===//
//
// Each file of a list differs in one place from one that is read. The library
// tokenizers 0.22.2 does not load those with a field that is missing, or of the
// wrong kind.
//
//===----------------------------------------------------------------------===//

#include "TokenizerLoader.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr char kWhole[] = R"({"version": "1.0",
  "normalizer": null, "pre_tokenizer": null, "post_processor": null,
  "decoder": null, "added_tokens": [],
  "model": {"type": "WordPiece", "unk_token": "[UNK]",
            "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1, "b": 2, "ab": 3}}})";

/// Another value of a field, and what is said of the folder, without its path.
struct Row {
  const char *field, *value, *sentence;
};

class ComponentErrors : public testing::Test {
protected:
  std::string sentenceOf(const std::string &whole) {
    folder.write("tokenizer.json", whole);
    folder.write("tokenizer_config.json",
                 R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
    auto imported = readFolderTokenizer(folder.path(), "", 1);
    if (imported)
      return imported->manifest.getString("reason").value_or("").str();
    std::string sentence = llvm::toString(imported.takeError());
    size_t at = sentence.find(folder.path());
    return at == std::string::npos
               ? sentence
               : sentence.replace(at, folder.path().size() + 1, "F/");
  }

  void check(llvm::ArrayRef<Row> rows) {
    for (auto [field, value, sentence] : rows) {
      auto whole = llvm::json::parse(kWhole), part = llvm::json::parse(value);
      ASSERT_TRUE(bool(whole) && bool(part)) << value;
      (*whole->getAsObject())[field] = std::move(*part);
      std::string text;
      llvm::raw_string_ostream(text) << *whole;
      EXPECT_EQ(sentenceOf(text), sentence) << value;
    }
  }

  TemporaryFolder folder;
};

TEST_F(ComponentErrors, OfTypesThatAreUnknown) {
  EXPECT_EQ(sentenceOf(kWhole), "");
  check({{"normalizer", R"({"type": "Foo", "clean_text": true})",
          "'tokenizer.json' has 'normalizer.type' with the value \"Foo\" "
          "(supported: BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, "
          "NFKD, Nmt, Precompiled, Prepend, Replace, Sequence, Strip, "
          "StripAccents)"},
         {"pre_tokenizer", R"({"type": "Foo"})",
          "'tokenizer.json' has 'pre_tokenizer.type' with the value \"Foo\" "
          "(supported: BertPreTokenizer, ByteLevel, CharDelimiterSplit, "
          "Digits, FixedLength, Metaspace, Punctuation, Sequence, Split, "
          "UnicodeScripts, Whitespace, WhitespaceSplit)"},
         {"decoder", R"({"type": "Sequence", "decoders": [{"type": "Fuse"},
                         {"type": "ByteLevel"}]})",
          "'tokenizer.json' has 'decoder.decoders[1].type' with the value "
          "\"ByteLevel\" (supported: BPEDecoder, ByteFallback, CTC, Fuse, "
          "Metaspace, Replace, Sequence, Strip; ByteLevel in front of all; "
          "WordPiece alone)"},
         {"normalizer", "[]",
          "'tokenizer.json' has 'normalizer' with the value [] (supported: "
          "BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, "
          "Precompiled, Prepend, Replace, Sequence, Strip, StripAccents)"}});
}

TEST_F(ComponentErrors, OfFields) {
  check({{"normalizer",
          R"({"type": "BertNormalizer", "clean_text": true,
              "handle_chinese_chars": true, "strip_accents": null})",
          "'tokenizer.json' has 'normalizer.lowercase' with the value null "
          "(supported: true, false)"},
         {"normalizer", R"({"type": "Precompiled",
                            "precompiled_charsmap": "AAAA"})",
          "'tokenizer.json' has 'normalizer.precompiled_charsmap' with the "
          "value \"AAAA\" (supported: a table of rules)"},
         {"normalizer", R"({"type": "Replace", "pattern": {"String": "a"}})",
          "'tokenizer.json' has 'normalizer.content' with the value null "
          "(supported: a text)"},
         {"pre_tokenizer", R"({"type": "Digits"})",
          "'tokenizer.json' has 'pre_tokenizer.individual_digits' with the "
          "value null (supported: true, false)"},
         {"pre_tokenizer", R"({"type": "CharDelimiterSplit",
                               "delimiter": "ab"})",
          "'tokenizer.json' has 'pre_tokenizer.delimiter' with the value "
          "\"ab\" (supported: a character)"},
         {"pre_tokenizer", R"({"type": "Metaspace", "replacement": "__"})",
          "'tokenizer.json' has 'pre_tokenizer.replacement' with the value "
          "\"__\" (supported: a character)"},
         {"pre_tokenizer", R"({"type": "Metaspace", "replacement": "_",
                               "add_prefix_space": false})",
          "'tokenizer.json' has 'pre_tokenizer.add_prefix_space' with the "
          "value false (supported: true, or a 'prepend_scheme' of never)"},
         {"pre_tokenizer", R"({"type": "Metaspace", "replacement": "_",
                               "add_prefix_space": false,
                               "prepend_scheme": "never"})",
          ""},
         {"decoder", R"({"type": "WordPiece", "prefix": "##"})",
          "'tokenizer.json' has 'decoder.cleanup' with the value null "
          "(supported: true, false)"},
         {"decoder", R"({"type": "Metaspace", "replacement": "_",
                         "add_prefix_space": false})",
          "'tokenizer.json' has 'decoder.add_prefix_space' with the value "
          "false (supported: true, or a 'prepend_scheme' of never)"},
         {"version", R"("2.0")",
          "'tokenizer.json' has 'version' with the value \"2.0\" (supported: "
          "\"1.0\")"}});
}

TEST_F(ComponentErrors, OfModels) {
  check({{"model", R"({"type": "WordLevel", "vocab": {"a": 0},
                       "unk_token": "zz"})",
          "'tokenizer.json' has 'model.unk_token' with the value \"zz\" "
          "(supported: a piece of the vocabulary)"},
         {"model", R"({"type": "WordLevel", "vocab": {"a": 0}})",
          "'tokenizer.json' has 'model.unk_token' with the value null "
          "(supported: a piece of the vocabulary)"},
         {"model", R"({"type": "BPE", "vocab": {"a": 0}, "merges": [],
                       "unk_token": "zz"})",
          "'tokenizer.json' has 'model.unk_token' with the value \"zz\" "
          "(supported: a piece of the vocabulary)"},
         {"model", R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
                       "merges": ["#version: 0.2", "a b"]})",
          ""},
         {"model", R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
                       "merges": [["a", "b"], "a b"]})",
          "'F/tokenizer.json' has the merge \"a b\" (expected two pieces)"},
         {"model", R"({"type": "Unigram", "vocab": [["a", 0]],
                       "unk_id": null})",
          "'tokenizer.json' has 'model.unk_id' with the value null "
          "(supported: the id of a piece)"},
         {"model", R"({"type": "Unigram", "vocab": [["a", "x"]],
                       "unk_id": 0})",
          "'F/tokenizer.json' has the piece [\"a\",\"x\"] (expected a text "
          "and a score)"},
         {"model", R"({"type": "WordLevel", "vocab": {"a": 0, "b": 0},
                       "unk_token": "a"})",
          "'tokenizer.json' gives the id 0 to two pieces"},
         {"model", R"({"type": "WordLevel", "vocab": {"a": 5000},
                       "unk_token": "a"})",
          "'F/tokenizer.json' numbers the piece 'a' with 5000 (expected a "
          "number below 4097, 4096 more than there are pieces)"}});
}

TEST_F(ComponentErrors, OfAddedTokens) {
  check({{"added_tokens", "{}",
          "'F/tokenizer.json' has 'added_tokens' with the value {} (expected "
          "a list)"},
         {"added_tokens",
          R"([{"id": 0, "content": "a", "lstrip": "yes", "rstrip": false,
               "single_word": false, "normalized": true, "special": false}])",
          "'F/tokenizer.json' has 'lstrip' of the added token 'a' with the "
          "value \"yes\" (expected true, false)"},
         {"added_tokens", R"([{"id": 0, "content": "a"}])",
          "'F/tokenizer.json' has 'single_word' of the added token 'a' with "
          "the value null (expected true, false)"}});
}

TEST_F(ComponentErrors, NameTheFileThatIsThere) {
  folder.write("vocab.txt", "[PAD]\n[CLS]\n[SEP]\n[MASK]\na\n");
  auto imported = readFolderTokenizer(folder.path(), "BertTokenizer", 5);
  ASSERT_TRUE(bool(imported)) << llvm::toString(imported.takeError());
  EXPECT_EQ(imported->manifest.getString("reason").value_or(""),
            "'vocab.txt' has no piece '[UNK]'");
}

} // namespace
