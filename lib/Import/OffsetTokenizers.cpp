//===- OffsetTokenizers.cpp - Tokenizers of mBART and Pegasus -------------===//
//
// The numbers are those of transformers' MBartTokenizer, MBart50Tokenizer and
// PegasusTokenizer, which fix them in their code.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/OffsetTokenizers.h"
#include "lib/Import/SentencePieceTable.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<128> path = folder;
  sys::path::append(path, name);
  return path.str().str();
}

/// The manifest of a model whose ids are those of `model` plus `offset`.
static Expected<ImportedTokenizer> describe(const SentencePieceModel &model,
                                            StringRef path, int64_t offset,
                                            int64_t idCount,
                                            int64_t vocabulary) {
  if (idCount > vocabulary)
    return makeError("'" + path + "' has " + Twine(model.pieceCount()) +
                     " pieces, which with special tokens are " +
                     Twine(idCount) + ", but the vocabulary has " +
                     Twine(vocabulary));
  ImportedTokenizer tokenizer;
  tokenizer.manifest =
      json::Object{{"kind", "sentencepiece"}, {"offset", offset}};
  tokenizer.sections.push_back(
      {"tokenizer.source", buildSentencePieceTable(model)});
  return tokenizer;
}

/// The text of a field of tokenizer_config.json, where there is one.
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

static Expected<json::Object> readConfig(StringRef path) {
  if (!sys::fs::exists(path))
    return json::Object();
  return readJsonFile(path);
}

Expected<ImportedTokenizer> readMBartTokenizer(StringRef folder,
                                               int64_t vocabulary) {
  std::string path = inFolder(folder, "sentencepiece.bpe.model"),
              configPath = inFolder(folder, "tokenizer_config.json");
  if (!sys::fs::exists(path))
    return ImportedTokenizer();
  Expected<json::Object> config = readConfig(configPath);
  if (!config)
    return config.takeError();
  constexpr StringLiteral classes[] = {"MBartTokenizer", "MBartTokenizerFast",
                                       "MBart50Tokenizer",
                                       "MBart50TokenizerFast"};
  Expected<SentencePieceModel> model = readSentencePieceModel(path);
  if (!model)
    return model.takeError();
  // Where nothing says which of the two it is, the vocabulary has room for the
  // languages of one.
  constexpr int64_t offset = 1, maskCount = 1;
  bool hasRoom = vocabulary >= model->pieceCount() + offset +
                                   int64_t(std::size(kLanguages)) + maskCount;
  Expected<std::string> name =
      readField(*config, "tokenizer_class", classes[hasRoom ? 2 : 0], classes,
                configPath);
  if (!name)
    return name.takeError();
  bool isFront = StringRef(*name).starts_with("MBart50");
  auto languages = ArrayRef(kLanguages);
  if (!isFront)
    languages = languages.take_front(kFirstLanguages);
  Expected<std::string> language =
      readField(*config, "src_lang", "en_XX", languages, configPath);
  if (!language)
    return language.takeError();

  // fairseq's <s>, <pad>, </s>, <unk> for the model's <unk>, <s>, </s>; behind
  // the pieces the languages and <mask>.
  constexpr int64_t pad = 1, eos = 2, unknown = 3;
  int64_t firstLanguage = model->pieceCount() + offset,
          mask = firstLanguage + int64_t(languages.size());
  int64_t code =
      firstLanguage + (llvm::find(languages, *language) - languages.begin());
  auto tokenizer = describe(*model, path, offset, mask + 1, vocabulary);
  if (!tokenizer)
    return tokenizer;
  json::Array special{0, pad, eos, unknown};
  for (int64_t id = firstLanguage; id <= mask; ++id)
    special.push_back(id);
  tokenizer->manifest["eos"] = eos;
  tokenizer->manifest["unknown"] = unknown;
  tokenizer->manifest["special"] = std::move(special);
  tokenizer->manifest[isFront ? "bos" : "language"] = code;
  return tokenizer;
}

Expected<ImportedTokenizer> readPegasusTokenizer(StringRef folder,
                                                 int64_t vocabulary) {
  std::string path = inFolder(folder, "spiece.model"),
              configPath = inFolder(folder, "tokenizer_config.json");
  if (!sys::fs::exists(path))
    return ImportedTokenizer();
  Expected<json::Object> config = readConfig(configPath);
  if (!config)
    return config.takeError();
  constexpr int64_t offset = 103, eos = 1;
  if (const json::Value *value = config->get("offset");
      value && *value != json::Value(offset))
    return makeError("'" + configPath + "' has 'offset' with the value " +
                     formatJson(*value) + " (supported: 103)");
  Expected<SentencePieceModel> model = readSentencePieceModel(path);
  if (!model)
    return model.takeError();
  int64_t unknown = model->unknown + offset,
          idCount = model->pieceCount() + offset;
  auto tokenizer = describe(*model, path, offset, idCount, vocabulary);
  if (!tokenizer)
    return tokenizer;
  json::Array special;
  for (int64_t id = 0; id < offset; ++id)
    special.push_back(id);
  special.push_back(unknown);
  tokenizer->manifest["eos"] = eos;
  tokenizer->manifest["unknown"] = unknown;
  tokenizer->manifest["special"] = std::move(special);
  return tokenizer;
}

} // namespace heddle
