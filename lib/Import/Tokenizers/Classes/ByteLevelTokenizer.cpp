//===- ByteLevelTokenizer.cpp - Reads byte pairs of a folder --------------===//
//
// Without tokenizer.json the fast tokenizer of transformers is a conversion of
// the slow one (convert_slow_tokenizer.py), which this file writes down as
// tokenizer.json would have it. Where the conversion names no unknown token, a
// byte that is no piece is nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/ByteLevelTokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Import/Tokenizers/MergesFile.h"

using namespace llvm;

namespace heddle {

using Form = DefaultToken::Form;
using Normalized = DefaultToken::Normalized;

static constexpr DefaultToken kBartTokens[] = {
    {"bos_token", "<s>", Form::ObjectIfConverted},
    {"eos_token", "</s>", Form::ObjectIfConverted},
    {"unk_token", "<unk>", Form::ObjectIfConverted},
    {"sep_token", "</s>", Form::ObjectIfConverted},
    {"pad_token", "<pad>", Form::ObjectIfConverted},
    {"cls_token", "<s>", Form::ObjectIfConverted},
    {"mask_token", "<mask>", Form::Object, /*stripsLeft=*/true}};
static constexpr DefaultToken kMvpTokens[] = {
    {"bos_token", "<s>", Form::Object, false, Normalized::IfConverted},
    {"eos_token", "</s>", Form::Object, false, Normalized::IfConverted},
    {"unk_token", "<unk>", Form::Object, false, Normalized::IfConverted},
    {"sep_token", "</s>", Form::Object, false, Normalized::IfConverted},
    {"pad_token", "<pad>", Form::Object, false, Normalized::IfConverted},
    {"cls_token", "<s>", Form::Object, false, Normalized::IfConverted},
    {"mask_token", "<mask>", Form::Object, /*stripsLeft=*/true,
     Normalized::IfConverted}};
/// RoBERTa's, too.
static constexpr DefaultToken kBlenderbotTokens[] = {
    {"bos_token", "<s>", Form::ObjectIfConverted},
    {"eos_token", "</s>", Form::ObjectIfConverted},
    {"unk_token", "<unk>", Form::ObjectIfConverted},
    {"sep_token", "</s>", Form::ObjectIfConverted},
    {"pad_token", "<pad>", Form::ObjectIfConverted},
    {"cls_token", "<s>", Form::ObjectIfConverted},
    {"mask_token", "<mask>", Form::Object, /*stripsLeft=*/true,
     Normalized::Never}};
static constexpr DefaultToken kDebertaTokens[] = {
    {"bos_token", "[CLS]", Form::ObjectIfConverted},
    {"eos_token", "[SEP]", Form::ObjectIfConverted},
    {"unk_token", "[UNK]", Form::ObjectIfConverted},
    {"sep_token", "[SEP]", Form::ObjectIfConverted},
    {"pad_token", "[PAD]", Form::ObjectIfConverted},
    {"cls_token", "[CLS]", Form::ObjectIfConverted},
    {"mask_token", "[MASK]", Form::ObjectIfConverted, /*stripsLeft=*/true}};
static constexpr DefaultToken kGpt2Tokens[] = {
    {"bos_token", "<|endoftext|>", Form::ObjectIfConverted},
    {"eos_token", "<|endoftext|>", Form::ObjectIfConverted},
    {"unk_token", "<|endoftext|>", Form::ObjectIfConverted},
    {"pad_token", "", Form::ObjectIfConverted}};
static constexpr DefaultToken kQwen2Tokens[] = {
    {"bos_token", "", Form::Object, false, Normalized::Never},
    {"eos_token", "<|endoftext|>", Form::Object, false, Normalized::Never},
    {"unk_token", "<|endoftext|>", Form::Object, false, Normalized::Never},
    {"pad_token", "<|endoftext|>", Form::Object, false, Normalized::Never}};
static constexpr DefaultToken kClipTokens[] = {
    {"bos_token", "<|startoftext|>", Form::ObjectIfConverted},
    {"eos_token", "<|endoftext|>", Form::ObjectIfConverted},
    {"unk_token", "<|endoftext|>", Form::ObjectIfConverted},
    {"pad_token", "<|endoftext|>"}};

static constexpr StringLiteral kWordEnd = "</w>";

namespace {
/// The slow tokenizer of a folder.
class SlowTokenizer {
public:
  SlowTokenizer(const TokenizerFiles &files, ArrayRef<DefaultToken> tokens,
                json::Object ids)
      : files(files), tokens(tokens), ids(std::move(ids)) {}

  /// A special token, which the conversion needs.
  Expected<std::string> textOf(StringRef field) const;
  /// The same with its id, which fast tokenizers do not follow: they number
  /// added tokens anew.
  Expected<ClassItem> itemOf(StringRef field) const;
  /// A token of any text, and its id, if there is one.
  ClassItem find(const std::string &text) const;

  const TokenizerFiles &files;
  ArrayRef<DefaultToken> tokens;
  json::Object ids;
};

/// A class of transformers.
struct PairClass {
  ArrayRef<DefaultToken> tokens;
  MergeLines merges;
  /// The components beside the model, and fields of the model beside its
  /// pieces and merges.
  Expected<json::Object> (*convert)(const SlowTokenizer &slow);
  /// What the class makes of tokenizer.json, or of the conversion.
  Error (*overwrite)(const TokenizerFiles &files,
                     json::Object &whole) = nullptr;
  bool stripsText = false;
};
} // namespace

Expected<std::string> SlowTokenizer::textOf(StringRef field) const {
  const DefaultToken *token = find_if(
      tokens, [&](const DefaultToken &each) { return each.field == field; });
  auto found = files.find(field, {token->text.str(), std::nullopt});
  if (found)
    return found->content;
  return make_error<UnsupportedTokenizer>(("the folder has no '" + field +
                                           "', which its class needs without " +
                                           "'tokenizer.json'")
                                              .str());
}

ClassItem SlowTokenizer::find(const std::string &text) const {
  auto idOf = [&](StringRef piece) -> std::optional<int64_t> {
    return ids.getInteger(piece);
  };
  AddedTokenTable added = addSlowTokens(files, listSpecial(files, tokens),
                                        {idOf, int64_t(ids.size())});
  std::optional<int64_t> id = added.find(text);
  return {text, 0, id ? id : idOf(text)};
}

Expected<ClassItem> SlowTokenizer::itemOf(StringRef field) const {
  Expected<std::string> text = textOf(field);
  if (!text)
    return text.takeError();
  return find(*text);
}

/// RobertaProcessing, which puts a token in front of a text and one behind it.
static json::Object around(const ClassItem &first, const ClassItem &last) {
  auto pair = [](const ClassItem &item) {
    return json::Array{item.text, item.id};
  };
  return json::Object{
      {"type", "RobertaProcessing"}, {"cls", pair(first)}, {"sep", pair(last)}};
}

/// Pre-tokenizer and decoder.
static json::Object byteLevel() { return json::Object{{"type", "ByteLevel"}}; }

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// RobertaConverter.
static Expected<json::Object> convertBart(const SlowTokenizer &slow) {
  Expected<ClassItem> first = slow.itemOf("cls_token");
  if (!first)
    return first.takeError();
  Expected<ClassItem> last = slow.itemOf("sep_token");
  if (!last)
    return last.takeError();
  json::Object processor = around(*first, *last);
  processor["add_prefix_space"] = false;
  processor["trim_offsets"] = true;
  return json::Object{{"pre_tokenizer", byteLevel()},
                      {"post_processor", std::move(processor)},
                      {"decoder", byteLevel()}};
}

/// GPT2Converter.
static Expected<json::Object> convertGpt2(const SlowTokenizer &slow) {
  json::Object whole{{"pre_tokenizer", byteLevel()}, {"decoder", byteLevel()}};
  if (!slow.files.isTrue("add_bos_token"))
    return whole;
  Expected<ClassItem> bos = slow.itemOf("bos_token");
  if (!bos)
    return bos.takeError();
  whole["post_processor"] = buildTemplate(
      {*bos, {kTextA.str()}}, {*bos, {kTextA.str()}, {kTextB.str(), 1}});
  return whole;
}

/// BlenderbotConverter.
static Expected<json::Object> convertBlenderbot(const SlowTokenizer &slow) {
  Expected<ClassItem> last = slow.itemOf("eos_token");
  if (!last)
    return last.takeError();
  return json::Object{
      {"pre_tokenizer", byteLevel()},
      {"post_processor", buildTemplate({{kTextA.str()}, *last},
                                       {{kTextA.str()}, {kTextB.str(), 1}})},
      {"decoder", byteLevel()}};
}

/// DebertaConverter, which names its tokens itself.
static Expected<json::Object> convertDeberta(const SlowTokenizer &slow) {
  ClassItem first = slow.find("[CLS]"), last = slow.find("[SEP]");
  for (ClassItem *item : {&first, &last}) {
    if (item->id)
      continue;
    Expected<ClassItem> unknown = slow.itemOf("unk_token");
    if (!unknown)
      return unknown.takeError();
    item->id = unknown->id;
  }
  ClassItem end = last;
  end.type = 1;
  return json::Object{
      {"pre_tokenizer", byteLevel()},
      {"post_processor",
       buildTemplate({first, {kTextA.str()}, last},
                     {first, {kTextA.str()}, last, {kTextB.str(), 1}, end})},
      {"decoder", byteLevel()}};
}

static json::Object split(StringRef behavior, bool inverts, StringRef pattern) {
  return json::Object{{"type", "Split"},
                      {"pattern", json::Object{{"Regex", pattern}}},
                      {"behavior", behavior},
                      {"invert", inverts}};
}

/// The bytes of what a split makes.
static json::Object splitBytes(json::Object split, bool usesRegex) {
  json::Object bytes = byteLevel();
  bytes["add_prefix_space"] = false;
  bytes["use_regex"] = usesRegex;
  return json::Object{
      {"type", "Sequence"},
      {"pretokenizers", json::Array{std::move(split), std::move(bytes)}}};
}

/// Qwen2Converter.
static Expected<json::Object> convertQwen2(const SlowTokenizer &slow) {
  // Qwen2Tokenizer fails to warn of it.
  if (slow.files.isTrue("add_prefix_space"))
    return refuseTokenizerField(slow.files.configPath(), "add_prefix_space",
                                true, "false, without 'tokenizer.json'");
  return json::Object{
      {"normalizer", json::Object{{"type", "NFC"}}},
      {"pre_tokenizer",
       splitBytes(
           split("Isolated", /*inverts=*/false,
                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)"
                 R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
                 R"(\s+(?!\S)|\s+)"),
           /*usesRegex=*/false)},
      {"decoder", byteLevel()}};
}

/// CLIPConverter.
static Expected<json::Object> convertClip(const SlowTokenizer &slow) {
  Expected<ClassItem> first = slow.itemOf("bos_token");
  if (!first)
    return first.takeError();
  Expected<ClassItem> last = slow.itemOf("eos_token");
  if (!last)
    return last.takeError();
  Expected<std::string> unknown = slow.textOf("unk_token");
  if (!unknown)
    return unknown.takeError();
  json::Object processor = around(*first, *last);
  processor["trim_offsets"] = false;
  json::Array steps{json::Object{{"type", "NFC"}},
                    json::Object{{"type", "Replace"},
                                 {"pattern", json::Object{{"Regex", "\\s+"}}},
                                 {"content", " "}},
                    json::Object{{"type", "Lowercase"}}};
  return json::Object{
      {"model",
       json::Object{{"unk_token", *unknown}, {"end_of_word_suffix", kWordEnd}}},
      {"normalizer",
       json::Object{{"type", "Sequence"}, {"normalizers", std::move(steps)}}},
      {"pre_tokenizer",
       splitBytes(split("Removed", /*inverts=*/true,
                        R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|)"
                        R"([^\s\p{L}\p{N}]+)"),
                  /*usesRegex=*/true)},
      {"post_processor", std::move(processor)},
      {"decoder", byteLevel()}};
}

//===----------------------------------------------------------------------===//
// What classes overwrite
//===----------------------------------------------------------------------===//

void overwriteTrimming(const TokenizerFiles &files, json::Object &whole) {
  json::Object *processor = whole.getObject("post_processor");
  if (!processor)
    return;
  bool trims = files.config.getBoolean("trim_offsets").value_or(true);
  for (auto [field, value] :
       {std::pair("add_prefix_space", files.isTrue("add_prefix_space")),
        {"trim_offsets", trims}})
    if (processor->get(field))
      (*processor)[field] = value;
}

static Error overwriteOfBart(const TokenizerFiles &files, json::Object &whole) {
  overwriteTrimming(files, whole);
  return Error::success();
}

/// CodeGen's fast tokenizer fails on it.
static Error refuseBos(const TokenizerFiles &files, json::Object &) {
  if (!files.isTrue("add_bos_token"))
    return Error::success();
  return refuseTokenizerField(files.configPath(), "add_bos_token", true,
                              "false of CodeGenTokenizer");
}

/// CLIP's makes a space of each end of a word behind the decoder.
static Error overwriteDecoder(const TokenizerFiles &files,
                              json::Object &whole) {
  auto refuse = [&](StringRef field, const json::Object *of, StringRef name,
                    const Twine &supported) {
    const json::Value *value = of ? of->get(name) : nullptr;
    return refuseTokenizerField("tokenizer.json", field,
                                value ? *value : json::Value(nullptr),
                                supported + " of CLIPTokenizer");
  };
  const json::Object *cutter = whole.getObject("pre_tokenizer"),
                     *decoder = whole.getObject("decoder"),
                     *model = whole.getObject("model");
  if (!cutter || cutter->getString("type") != "Sequence")
    return refuse("pre_tokenizer", &whole, "pre_tokenizer", "the Sequence");
  if (!decoder)
    return refuse("decoder", &whole, "decoder", "a decoder");
  StringRef suffix =
      model ? model->getString("end_of_word_suffix").value_or("") : "";
  if (suffix.empty())
    return refuse("model.end_of_word_suffix", model, "end_of_word_suffix",
                  "the ends of words");
  json::Array steps{json::Object(*decoder), json::Object{{"type", "Fuse"}},
                    json::Object{{"type", "Replace"},
                                 {"pattern", json::Object{{"String", suffix}}},
                                 {"content", " "}}};
  whole["decoder"] =
      json::Object{{"type", "Sequence"}, {"decoders", std::move(steps)}};
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// `vocab.json` and `merges.txt` as tokenizer.json would have them.
static Expected<json::Object> convertPlainFiles(const TokenizerFiles &files,
                                                const PairClass &traits) {
  Expected<json::Object> ids = readJsonFile(files.path("vocab.json"));
  if (!ids)
    return ids.takeError();
  Expected<json::Array> merges =
      readMergesFile(files.path("merges.txt"), traits.merges);
  if (!merges)
    return merges.takeError();
  SlowTokenizer slow(files, traits.tokens, std::move(*ids));
  Expected<json::Object> whole = traits.convert(slow);
  if (!whole)
    return whole.takeError();
  json::Object &model = *(*whole)
                             .try_emplace("model", json::Object())
                             .first->second.getAsObject();
  model["type"] = "BPE";
  model["vocab"] = std::move(slow.ids);
  model["merges"] = std::move(*merges);
  return whole;
}

static Expected<ImportedTokenizer> readClass(const TokenizerFiles &files,
                                             const PairClass &traits,
                                             int64_t vocabulary) {
  auto read = [&](json::Object whole,
                  StringRef name) -> Expected<ImportedTokenizer> {
    if (traits.overwrite)
      if (Error error = traits.overwrite(files, whole))
        return std::move(error);
    JsonTokenizerInput input{files,
                             whole,
                             files.path(name),
                             vocabulary,
                             listSpecial(files, traits.tokens),
                             files.wholeAdded};
    input.stripsText = traits.stripsText;
    return readJsonTokenizer(input);
  };
  if (files.whole)
    return read(*files.whole, "tokenizer.json");
  Expected<bool> isThere = files.hasAll({"vocab.json", "merges.txt"});
  if (!isThere)
    return isThere.takeError();
  if (!*isThere)
    return ImportedTokenizer();
  Expected<json::Object> whole = convertPlainFiles(files, traits);
  if (!whole)
    return whole.takeError();
  return read(std::move(*whole), "vocab.json");
}

Expected<ImportedTokenizer> readByteLevelTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary) {
  return readClass(
      files,
      {kBartTokens, MergeLines::BehindFirst, convertBart, overwriteOfBart},
      vocabulary);
}

Expected<ImportedTokenizer> readRobertaTokenizer(const TokenizerFiles &files,
                                                 int64_t vocabulary) {
  return readClass(files,
                   {kBlenderbotTokens, MergeLines::BehindFirst, convertBart,
                    overwriteOfBart},
                   vocabulary);
}

Expected<ImportedTokenizer> readMvpTokenizer(const TokenizerFiles &files,
                                             int64_t vocabulary) {
  return readClass(
      files,
      {kMvpTokens, MergeLines::BehindFirst, convertBart, overwriteOfBart},
      vocabulary);
}

Expected<ImportedTokenizer> readBlenderbotTokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary) {
  return readClass(files,
                   {kBlenderbotTokens, MergeLines::BehindFirst,
                    convertBlenderbot, overwriteOfBart},
                   vocabulary);
}

Expected<ImportedTokenizer> readCodeGenTokenizer(const TokenizerFiles &files,
                                                 int64_t vocabulary) {
  return readClass(
      files, {kGpt2Tokens, MergeLines::BehindFirst, convertGpt2, refuseBos},
      vocabulary);
}

Expected<ImportedTokenizer> readDebertaTokenizer(const TokenizerFiles &files,
                                                 int64_t vocabulary) {
  return readClass(files,
                   {kDebertaTokens, MergeLines::BehindFirst, convertDeberta},
                   vocabulary);
}

Expected<ImportedTokenizer> readGpt2Tokenizer(const TokenizerFiles &files,
                                              int64_t vocabulary) {
  return readClass(files, {kGpt2Tokens, MergeLines::BehindFirst, convertGpt2},
                   vocabulary);
}

Expected<ImportedTokenizer> readQwen2Tokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  return readClass(files,
                   {kQwen2Tokens, MergeLines::BehindVersion, convertQwen2},
                   vocabulary);
}

Expected<ImportedTokenizer> readClipTokenizer(const TokenizerFiles &files,
                                              int64_t vocabulary) {
  return readClass(files,
                   {kClipTokens, MergeLines::OfClip, convertClip,
                    overwriteDecoder, /*stripsText=*/true},
                   vocabulary);
}

} // namespace heddle
