//===- LanguageModelTokenizers.cpp - Tokenizers of Llama and kin ----------===//
//
// update_post_processor of the classes, in transformers 4.57.6: flags say
// whether the tokens stand there, whatever the template of tokenizer.json has.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/LanguageModelTokenizers.h"
#include "lib/Import/Tokenizers/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

namespace {
struct LanguageModelClass {
  ArrayRef<DefaultToken> tokens;
  /// Whether a text begins with a token if no file says it.
  bool addsBos;
};
} // namespace

static constexpr DefaultToken kLlamaTokens[] = {
    {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"}};
static constexpr DefaultToken kGemmaTokens[] = {{"bos_token", "<bos>"},
                                                {"eos_token", "<eos>"},
                                                {"unk_token", "<unk>"},
                                                {"pad_token", "<pad>"}};
static constexpr DefaultToken kGptNeoxTokens[] = {
    {"bos_token", "<|endoftext|>"},
    {"eos_token", "<|endoftext|>"},
    {"unk_token", "<|endoftext|>"}};

static Expected<ImportedTokenizer> readClass(const TokenizerFiles &files,
                                             const LanguageModelClass &traits,
                                             int64_t vocabulary) {
  if (!files.whole)
    return ImportedTokenizer();
  auto flag = [&](StringRef field, bool byDefault) {
    return files.config.getBoolean(field).value_or(byDefault);
  };
  bool addsBos = flag("add_bos_token", traits.addsBos),
       addsEos = flag("add_eos_token", false);
  auto around = [&](StringRef text, int64_t type) {
    std::vector<ClassItem> items = {{text.str(), type}};
    if (addsBos)
      items.insert(items.begin(),
                   {textOf(files, traits.tokens, "bos_token"), type});
    if (addsEos)
      items.push_back({textOf(files, traits.tokens, "eos_token"), type});
    return items;
  };
  std::vector<ClassItem> single = around(kTextA, 0), pair = single;
  append_range(pair, around(kTextB, 1));
  json::Object whole = *files.whole;
  whole["post_processor"] = buildTemplate(single, pair);
  return readJsonTokenizer({files, whole, files.path("tokenizer.json"),
                            vocabulary, listSpecial(files, traits.tokens)});
}

Expected<ImportedTokenizer> readLlamaTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  // Converts the slow tokenizer anew.
  if (const json::Value *space = files.config.get("add_prefix_space");
      space && space->kind() != json::Value::Null)
    return refuseTokenizerField(files.configPath(), "add_prefix_space", *space,
                                "null");
  return readClass(files, {kLlamaTokens, /*addsBos=*/true}, vocabulary);
}

Expected<ImportedTokenizer> readGemmaTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  return readClass(files, {kGemmaTokens, /*addsBos=*/true}, vocabulary);
}

Expected<ImportedTokenizer> readGptNeoxTokenizer(const TokenizerFiles &files,
                                                 int64_t vocabulary) {
  return readClass(files, {kGptNeoxTokens, /*addsBos=*/false}, vocabulary);
}

} // namespace heddle
