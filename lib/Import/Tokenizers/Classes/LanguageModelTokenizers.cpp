//===- LanguageModelTokenizers.cpp - Tokenizers of Llama and kin ----------===//
//
// update_post_processor of the classes, in transformers 4.57.6: flags say
// whether the tokens stand there, whatever the template of tokenizer.json has.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/LanguageModelTokenizers.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/SentencePieceConversion.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kMark = "\xE2\x96\x81";

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
static constexpr DefaultToken kCohereTokens[] = {
    {"bos_token", "<BOS_TOKEN>"},
    {"eos_token", "<|END_OF_TURN_TOKEN|>"},
    {"unk_token", "<UNK>"}};
static constexpr DefaultToken kGptNeoxTokens[] = {
    {"bos_token", "<|endoftext|>"},
    {"eos_token", "<|endoftext|>"},
    {"unk_token", "<|endoftext|>"}};

/// What the flags put around texts.
static json::Object makeTemplate(const TokenizerFiles &files,
                                 const LanguageModelClass &traits) {
  bool addsBos = files.isTrue("add_bos_token", traits.addsBos),
       addsEos = files.isTrue("add_eos_token");
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
  return buildTemplate(single, pair);
}

static Expected<ImportedTokenizer> readClass(const TokenizerFiles &files,
                                             const LanguageModelClass &traits,
                                             int64_t vocabulary) {
  if (!files.whole)
    return ImportedTokenizer();
  json::Object whole = *files.whole;
  whole["post_processor"] = makeTemplate(files, traits);
  return readJsonTokenizer({files, whole, files.path("tokenizer.json"),
                            vocabulary, listSpecial(files, traits.tokens),
                            files.wholeAdded});
}

/// LlamaConverter.
static void convertLlama(const TokenizerFiles &files,
                         SentencePieceConversion &to) {
  constexpr int64_t reserved = 3;
  for (auto [id, piece] : enumerate(to.pieces)) {
    if (int64_t(id) == reserved)
      break;
    if (auto added = files.added.find(int64_t(id)); added != files.added.end())
      piece.first = added->second.content;
    piece.second = 0;
  }
  to.unknown = 0;
  to.fallsBackToBytes = true;
  // CodeLlama's slow class knows neither field.
  bool isFixed = files.className == "CodeLlamaTokenizer",
       isOld = isFixed || isLegacy(files),
       addsSpace = isFixed || addsPrefixSpace(files);
  json::Array parts;
  if (addsSpace)
    parts.push_back(json::Object{{"type", "Prepend"}, {"prepend", kMark}});
  parts.push_back(makeReplace(" ", kMark));
  json::Object marks = makeMetaspace(addsSpace ? "first" : "never");
  marks["split"] = false;
  to.normalizer =
      isOld ? json::Value(makeSequence("normalizers", std::move(parts)))
            : json::Value(nullptr);
  to.preTokenizer =
      isOld ? json::Value(nullptr) : json::Value(std::move(marks));
  json::Array steps{makeReplace(kMark, " "),
                    json::Object{{"type", "ByteFallback"}},
                    json::Object{{"type", "Fuse"}}};
  if (addsSpace)
    steps.push_back(json::Object{
        {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  to.decoder = makeSequence("decoders", std::move(steps));
}

static constexpr StringLiteral kLlamaFile = "tokenizer.model";

/// tokenizer.json, or the model.
static Expected<ImportedTokenizer> readLlama(const TokenizerFiles &files,
                                             int64_t vocabulary) {
  const LanguageModelClass traits = {kLlamaTokens, /*addsBos=*/true};
  return readConvertedTokenizer(
      files,
      {kLlamaFile, listSpecial(files, traits.tokens),
       [&](const SentencePieceModel &, SentencePieceConversion &to) {
         convertLlama(files, to);
       },
       [&](json::Object &whole) {
         whole["post_processor"] = makeTemplate(files, traits);
       }},
      vocabulary);
}

Expected<ImportedTokenizer> readCodeLlamaTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  TokenizerFiles named = files;
  if (!named.additional)
    named.additional.emplace();
  for (auto [field, name] : {std::pair("prefix_token", "<PRE>"),
                             {"middle_token", "<MID>"},
                             {"suffix_token", "<SUF>"},
                             {"eot_token", "<EOT>"}}) {
    SpecialToken byDefault{(kMark + name).str(), std::nullopt};
    if (auto token = files.find(field, byDefault))
      named.additional->push_back(*token);
  }
  return readLlama(named, vocabulary);
}

Expected<ImportedTokenizer> readCohereTokenizer(const TokenizerFiles &files,
                                                int64_t vocabulary) {
  // Every part that adds a space would be changed.
  if (files.isTrue("add_prefix_space"))
    return refuseTokenizerField(files.configPath(), "add_prefix_space", true,
                                "false");
  return readClass(files, {kCohereTokens, /*addsBos=*/true}, vocabulary);
}

Expected<ImportedTokenizer> readLlamaTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  const json::Value *space = files.config.get("add_prefix_space");
  if (!files.whole || !space || space->kind() == json::Value::Null)
    return readLlama(files, vocabulary);
  // The class converts the model anew.
  if (!files.has(kLlamaFile))
    return refuseTokenizerField(files.configPath(), "add_prefix_space", *space,
                                "null, without 'tokenizer.model'");
  return readLlama(files.withoutWhole(), vocabulary);
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
