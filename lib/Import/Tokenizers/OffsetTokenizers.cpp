//===- OffsetTokenizers.cpp - Tokenizers of mBART and Pegasus -------------===//
//
// The numbers are those of transformers' MBartTokenizer, MBart50Tokenizer and
// PegasusTokenizer, which fix them in their code. AutoTokenizer takes the fast
// ones, which convert the SentencePiece model or read tokenizer.json.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/OffsetTokenizers.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Patterns/PatternTable.h"
#include "lib/Import/Tokenizers/SentencePieceJson.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

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

/// The tokens that a fast tokenizer has before its files add others: those of
/// tokenizer.json, or else what the model has no text for or a user defined.
static std::vector<AddedTokenForm> listFirst(const SentencePieceModel &model,
                                             const TokenizerFiles &files) {
  if (files.whole)
    return files.wholeAdded;
  std::vector<AddedTokenForm> tokens;
  for (const SentencePiece &piece : model.pieces) {
    bool isControl = piece.type == SentencePiece::Type::Control;
    if (!isControl && piece.type != SentencePiece::Type::UserDefined)
      continue;
    AddedTokenForm form;
    form.content = piece.text;
    form.isSpecial = isControl;
    tokens.push_back(std::move(form));
  }
  return tokens;
}

/// Adds what the converters of transformers make of a model: its rules, what
/// they do about spaces, and the pre-tokenizers in front of the pieces.
static void addStages(const SentencePieceModel &model,
                      const ConvertedModel &converted, const SpaceForm &form,
                      const AddedTokenTable &added, StageList &stages) {
  constexpr uint32_t both = StageList::kBothSides;
  StringRef mark = "\xE2\x96\x81";
  stages.add(format::kRepairText, both);
  std::string tokens = buildAddedTokens(added);
  stages.add(format::kFindTokens, both, tokens);
  if (!model.normalizer.rules.empty())
    stages.add(format::kReplaceClusters, both, buildRules(model.normalizer));
  bool isMarked = form.spaces == "marked";
  if (isMarked)
    stages.addHeader(format::kStripSpaces, both,
                     format::EndsHeader{format::kStripsRight, 0});
  if (isMarked || form.spaces == "single") {
    StringRef one = isMarked ? mark : " ";
    stages.addHeader(format::kReplaceMatches, both,
                     format::ReplaceHeader{uint32_t(one.size()), 0},
                     cantFail(buildPatternTable(" {2,}")) + one.str());
  }
  stages.add(format::kFindNormalizedTokens, both, tokens);
  if (form.frame == "fast-words")
    stages.addHeader(format::kSplitMatches, both,
                     format::SplitHeader{format::kRemoves, 0},
                     cantFail(buildPatternTable("\\s+")));
  stages.addHeader(format::kMarkSpaces, both,
                   format::MarkHeader{format::kMarksAll, uint32_t(mark.size())},
                   mark);
  addConvertedModel(model, converted, stages);
}

/// The tokenizer of a model, but for what a class puts around a text.
static Expected<ImportedTokenizer>
describe(const SentencePieceModel &model, const ConvertedModel &converted,
         const TokenizerFiles &files,
         const std::map<int64_t, AddedTokenForm> &added,
         ArrayRef<SpecialToken> special, StringRef frameName,
         const TemplateTable &around) {
  if (Error error = checkTokenizerConfig(files, /*isSlow=*/false))
    return std::move(error);
  Expected<SpaceForm> form =
      readConversion(files, model, converted, {frameName});
  if (!form)
    return form.takeError();
  auto find = [&](StringRef text) { return converted.find(text); };
  AddedTokenTable table = addFastTokens(listFirst(model, files), added, special,
                                        {find, converted.pieceCount()});
  ImportedTokenizer tokenizer;
  tokenizer.manifest = json::Object{{"kind", "sentencepiece"},
                                    {"unknown", converted.unknown},
                                    {"special", idsOfSpecial(table)}};
  if (files.isTrue("clean_up_tokenization_spaces"))
    tokenizer.manifest["clean_up"] = 1;
  StageList stages;
  addStages(model, converted, *form, table, stages);
  around.addTo(stages);
  tokenizer.setStages(stages);
  // Which tokens are special their texts say: other ids may have the same.
  StringSet<> names;
  for (const auto &[id, token] : table.entries)
    if (token.isSpecial)
      names.insert(token.content);
  for (auto [id, piece] : enumerate(converted.pieces))
    if (names.contains(piece.text) && converted.find(piece.text) != int64_t(id))
      tokenizer.manifest.getArray("special")->push_back(int64_t(id));
  return tokenizer;
}

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

Expected<ImportedTokenizer> readMBartTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  if (!files.has("sentencepiece.bpe.model"))
    return ImportedTokenizer();
  Expected<SentencePieceModel> model =
      readSentencePieceModel(files.path("sentencepiece.bpe.model"));
  if (!model)
    return model.takeError();
  constexpr int64_t offset = 1, maskCount = 1;
  // If no class is named, the vocabulary has room for the languages of one.
  bool hasRoom = vocabulary >= model->pieceCount() + offset +
                                   int64_t(std::size(kLanguages)) + maskCount;
  bool isFront =
      files.className.empty() ? hasRoom : files.className == "MBart50Tokenizer";
  auto languages = ArrayRef(kLanguages);
  if (!isFront)
    languages = languages.take_front(kFirstLanguages);
  Expected<std::string> language = readField(files.config, "src_lang", "en_XX",
                                             languages, files.configPath());
  if (!language)
    return language.takeError();

  // fairseq's <s>, <pad>, </s>, <unk> for the model's <unk>, <s>, </s>; behind
  // the pieces the languages and <mask>.
  constexpr int64_t eos = 2, unknown = 3, modelReserved = 3;
  int64_t firstLanguage = model->pieceCount() + offset;
  int64_t code =
      firstLanguage + (llvm::find(languages, *language) - languages.begin());
  std::vector<ConvertedModel::Piece> after;
  for (StringRef name : languages)
    after.push_back({name.str(), 0});
  after.push_back({"<mask>", 0});
  ConvertedModel converted = convertModel(
      *model, {{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}},
      modelReserved, after);
  converted.file = "sentencepiece.bpe.model";
  converted.unknown = unknown;
  // Merges name the unknown piece by its text, of which the last counts.
  if (model->kind == SentencePieceModel::Kind::BytePairs)
    converted.unknown =
        converted.find(model->pieces[model->unknown].text).value_or(unknown);
  TemplateTable around =
      TemplateTable::around(isFront ? std::optional(code) : std::nullopt, eos);
  if (!isFront)
    for (auto *items : {&around.single, &around.pair})
      items->push_back({int32_t(code), 0});
  around.language = isFront ? 0 : int32_t(around.single.size()) - 1;
  Expected<ImportedTokenizer> tokenizer = describe(
      *model, converted, files, files.added,
      listMBart(files, languages, isFront), /*frameName=*/"fast", around);
  if (!tokenizer)
    return tokenizer.takeError();
  json::Object &manifest = tokenizer->manifest;
  manifest["eos"] = eos;
  manifest[isFront ? "bos" : "language"] = code;
  json::Array names, tokens;
  for (auto [index, name] : enumerate(languages))
    if (firstLanguage + int64_t(index) < vocabulary) {
      names.push_back(name.str());
      tokens.push_back(firstLanguage + int64_t(index));
    }
  manifest["languages"] = std::move(names);
  manifest["language_tokens"] = std::move(tokens);
  manifest["target_language"] = isFront ? "forced_bos" : "start";
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
  if (!files.has("spiece.model"))
    return ImportedTokenizer();
  constexpr int64_t offset = 103, eos = 1;
  if (const json::Value *value = files.config.get("offset");
      value && *value != json::Value(offset))
    return refuseTokenizerField(files.configPath(), "offset", *value, "103");
  const json::Value *sent = files.config.get("mask_token_sent");
  if (sent && !sent->getAsString())
    return refuseTokenizerField(files.configPath(), "mask_token_sent", *sent,
                                "a text");
  StringRef sentenceMask = sent ? *sent->getAsString() : "<mask_1>";
  Expected<SentencePieceModel> model =
      readSentencePieceModel(files.path("spiece.model"));
  if (!model)
    return model.takeError();
  // <pad>, </s>, two masks, <unk_2> to <unk_102> for the model's first two
  // pieces and the offset.
  constexpr int64_t firstUnknown = 4, modelReserved = 2;
  auto contentOf = [&](StringRef field, StringRef byDefault) {
    auto token = files.find(field, {byDefault.str(), {}});
    return token ? token->content : std::string();
  };
  // PegasusTokenizerFast converts the model anew if one of these is another.
  if (files.whole && (contentOf("pad_token", "<pad>") != "<pad>" ||
                      contentOf("eos_token", "</s>") != "</s>" ||
                      contentOf("unk_token", "<unk>") != "<unk>")) {
    TokenizerFiles others = files;
    others.whole.reset();
    others.wholeAdded.clear();
    return readPegasusTokenizer(others, vocabulary);
  }
  std::vector<ConvertedModel::Piece> before = {
      {contentOf("pad_token", "<pad>"), 0},
      {contentOf("eos_token", "</s>"), 0},
      {sentenceMask.str(), 0},
      {contentOf("mask_token", "<mask_2>"), 0}};
  for (int64_t i = firstUnknown; i < offset + modelReserved; ++i)
    before.push_back({"<unk_" + std::to_string(i - 2) + ">", -100});
  ConvertedModel converted =
      convertModel(*model, std::move(before), modelReserved);
  converted.file = "spiece.model";
  converted.unknown = model->unknown + offset;
  converted.end = eos;
  // PegasusTokenizerFast drops the added tokens of other files.
  Expected<ImportedTokenizer> tokenizer = describe(
      *model, converted, files, /*added=*/{},
      listPegasus(files, sentenceMask, offset), /*frameName=*/"fast-words",
      TemplateTable::around(std::nullopt, eos));
  if (tokenizer)
    tokenizer->manifest["eos"] = eos;
  return tokenizer;
}

} // namespace heddle
