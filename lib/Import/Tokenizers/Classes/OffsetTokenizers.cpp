//===- OffsetTokenizers.cpp - Tokenizers of mBART and Pegasus -------------===//
//
// The numbers are those of transformers' MBartTokenizer, MBart50Tokenizer and
// PegasusTokenizer, which fix them in their code. AutoTokenizer takes the fast
// ones, which convert the SentencePiece model or read tokenizer.json.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/OffsetTokenizers.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/SentencePieceConversion.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

/// mBART's languages are the first 25 of mBART-50's, in the order of their ids.
static constexpr StringLiteral kLanguages[] = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX",
    "gu_IN", "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV",
    "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN",
    "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID",
    "ka_GE", "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF",
    "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN", "th_TH", "tl_XX", "uk_UA",
    "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
static constexpr size_t kFirstLanguages = 25;

/// The text of a field of tokenizer_config.json, if there is one.
static Expected<std::string> readField(const json::Object &config,
                                       StringRef field, StringRef byDefault,
                                       ArrayRef<StringLiteral> supported,
                                       StringRef path) {
  const json::Value *value = config.get(field);
  if (!value || value->getAsNull())
    return byDefault.str();
  std::optional<StringRef> text = value->getAsString();
  if (text && is_contained(supported, *text))
    return text->str();
  return makeError("'" + path + "' has '" + field + "' with the value " +
                   formatJson(*value) +
                   " (supported: " + join(supported, ", ") + ")");
}

/// The special tokens of mBART, whose mask takes the spaces in front with it.
static std::vector<SpecialToken> listMBart(const TokenizerFiles &files,
                                           ArrayRef<StringLiteral> languages,
                                           bool isFront) {
  AddedTokenForm mask;
  mask.content = "<mask>";
  mask.stripsLeft = mask.isSpecial = true;
  // What is left open in Python follows from being special, unless the token
  // went through a slow tokenizer first.
  mask.isNormalized = !files.whole && (isFront || files.has("tokenizer.json"));
  const std::pair<StringLiteral, SpecialToken> fields[] = {
      {"bos_token", {"<s>", {}}},          {"eos_token", {"</s>", {}}},
      {"unk_token", {"<unk>", {}}},        {"sep_token", {"</s>", {}}},
      {"pad_token", {"<pad>", {}}},        {"cls_token", {"<s>", {}}},
      {"mask_token", {mask.content, mask}}};
  std::vector<SpecialToken> special, codes;
  for (const auto &[field, byDefault] : fields)
    if (std::optional<SpecialToken> token = files.find(field, byDefault))
      appendSpecial(*token, special);
  for (StringRef code : languages)
    codes.push_back({code.str(), {}});
  std::vector<SpecialToken> others =
      files.additional.value_or(std::vector<SpecialToken>());
  others.insert(isFront ? others.end() : others.begin(), codes.begin(),
                codes.end());
  appendSpecial(others, special);
  for (const SpecialToken &token : files.extra)
    appendSpecial(token, special);
  return special;
}

static constexpr StringLiteral kMBartFile = "sentencepiece.bpe.model";

/// Whether an unnamed class is mBART-50's: the vocabulary has room for its
/// languages.
static Expected<bool> hasRoomForAll(const TokenizerFiles &files,
                                    int64_t vocabulary) {
  constexpr int64_t offset = 1, maskCount = 1;
  auto languageCount = int64_t(std::size(kLanguages));
  if (!files.has(kMBartFile)) {
    const json::Object *model =
        files.whole ? files.whole->getObject("model") : nullptr;
    const json::Array *pieces = model ? model->getArray("vocab") : nullptr;
    return pieces && any_of(*pieces, [](const json::Value &piece) {
             const json::Array *pair = piece.getAsArray();
             return pair && !pair->empty() &&
                    pair->front() == std::end(kLanguages)[-1];
           });
  }
  Expected<SentencePieceModel> model =
      readSentencePieceModel(files.path(kMBartFile));
  if (!model)
    return model.takeError();
  return vocabulary >= model->pieceCount() + offset + languageCount + maskCount;
}

Expected<ImportedTokenizer> readMBartTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  bool isFront = files.className == "MBart50Tokenizer";
  if (files.classPath.empty()) {
    Expected<bool> hasRoom = hasRoomForAll(files, vocabulary);
    if (!hasRoom)
      return hasRoom.takeError();
    isFront = *hasRoom;
  }
  auto languages = ArrayRef(kLanguages);
  if (!isFront)
    languages = languages.take_front(kFirstLanguages);
  Expected<std::string> language = readField(files.config, "src_lang", "en_XX",
                                             languages, files.configPath());
  if (!language)
    return language.takeError();
  SpecialToken end{"</s>", std::nullopt};
  std::string eos = files.find("eos_token", end).value_or(end).content;

  // Behind the pieces stand the languages and <mask>.
  auto convert = [&](const SentencePieceModel &, SentencePieceConversion &to) {
    to.replaceByFairseq();
    for (StringRef name : languages)
      to.pieces.emplace_back(name, 0);
    to.pieces.emplace_back("<mask>", 0);
  };
  // The class replaces the template.
  auto overwrite = [&](json::Object &whole) {
    std::vector<ClassItem> single = {{kTextA.str()}, {eos}},
                           pair = {{kTextA.str()}, {kTextB.str()}, {eos}};
    for (auto *items : {&single, &pair})
      items->insert(isFront ? items->begin() : items->end(), {*language});
    whole["post_processor"] = buildTemplate(single, pair);
  };
  Expected<ImportedTokenizer> tokenizer = readConvertedTokenizer(
      files,
      {kMBartFile,
       listMBart(files, languages, isFront),
       convert,
       overwrite,
       {*language,
        std::vector<std::string>(languages.begin(), languages.end())}},
      vocabulary);
  if (tokenizer && tokenizer->manifest.get("languages"))
    tokenizer->manifest["target_language"] = isFront ? "forced_bos" : "start";
  return tokenizer;
}

/// The special tokens of Pegasus: the list of additional ones is filled up with
/// names of ids that pretraining used.
static std::vector<SpecialToken> listPegasus(const TokenizerFiles &files,
                                             StringRef sentenceMask,
                                             int64_t offset) {
  std::vector<SpecialToken> special, others;
  // Of those without a default the files alone say something.
  for (auto [field, text] : {std::pair("bos_token", ""),
                             {"eos_token", "</s>"},
                             {"unk_token", "<unk>"},
                             {"sep_token", ""},
                             {"pad_token", "<pad>"},
                             {"cls_token", ""},
                             {"mask_token", "<mask_2>"}})
    if (auto token = files.find(field, {text, {}});
        token && !token->content.empty())
      appendSpecial(*token, special);
  bool isGiven = files.additional.has_value();
  if (isGiven)
    others = *files.additional;
  if (none_of(others, [&](const SpecialToken &token) {
        return !token.form && token.content == sentenceMask;
      }))
    others.insert(others.begin(), {sentenceMask.str(), {}});
  for (int64_t i = isGiven ? int64_t(others.size()) : 2; i < offset - isGiven;
       ++i)
    others.push_back({"<unk_" + std::to_string(i) + ">", {}});
  appendSpecial(others, special);
  for (const SpecialToken &token : files.extra)
    appendSpecial(token, special);
  return special;
}

Expected<ImportedTokenizer> readPegasusTokenizer(const TokenizerFiles &files,
                                                 int64_t vocabulary) {
  constexpr int64_t offset = 103;
  if (const json::Value *value = files.config.get("offset");
      value && *value != json::Value(offset))
    return refuseTokenizerField(files.configPath(), "offset", *value, "103");
  const json::Value *sent = files.config.get("mask_token_sent");
  if (sent && !sent->getAsString())
    return refuseTokenizerField(files.configPath(), "mask_token_sent", *sent,
                                "a text");
  StringRef sentenceMask = sent ? *sent->getAsString() : "<mask_1>";
  auto contentOf = [&](StringRef field, StringRef byDefault) {
    auto token = files.find(field, {byDefault.str(), {}});
    return token ? token->content : std::string();
  };
  std::string pad = contentOf("pad_token", "<pad>"),
              eos = contentOf("eos_token", "</s>");
  // PegasusTokenizerFast converts the model anew if one of these is another.
  if (files.whole && (pad != "<pad>" || eos != "</s>" ||
                      contentOf("unk_token", "<unk>") != "<unk>")) {
    return readPegasusTokenizer(files.withoutWhole(), vocabulary);
  }
  // <pad>, </s>, two masks, <unk_2> to <unk_102> for the model's first two
  // pieces and the offset.
  auto convert = [&](const SentencePieceModel &model,
                     SentencePieceConversion &to) {
    std::vector<SentencePieceConversion::Piece> before = {
        {pad, 0},
        {eos, 0},
        {sentenceMask.str(), 0},
        {contentOf("mask_token", "<mask_2>"), 0}};
    for (int64_t i = 2; i < offset; ++i)
      before.emplace_back("<unk_" + std::to_string(i) + ">", -100);
    to.replaceFirst(2, before);
    to.unknown = model.unknown + offset;
    to.preTokenizer = makeSequence(
        "pretokenizers", json::Array{json::Object{{"type", "WhitespaceSplit"}},
                                     makeMetaspace("always")});
    to.postProcessor = buildTemplate({{kTextA.str()}, {eos}},
                                     {{kTextA.str()}, {kTextB.str()}, {eos}});
  };
  ConvertedClass made{"spiece.model", listPegasus(files, sentenceMask, offset),
                      convert};
  made.dropsAdded = true;
  return readConvertedTokenizer(files, made, vocabulary);
}

} // namespace heddle
