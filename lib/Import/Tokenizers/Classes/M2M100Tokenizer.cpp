//===- M2M100Tokenizer.cpp - Tokenizers of M2M100, SMaLL-100 --------------===//
//
// M2M100Tokenizer of transformers 4.57.6 is a slow class alone: SentencePiece
// cuts, and vocab.json numbers the pieces. The ids of the languages follow
// those of vocab.json, in the order of a list that the class has.
//
// SMALL100Tokenizer is code that stands in the folder of SMaLL-100, which is
// not run: the same, but for the language in front of a text, which is the one
// to translate into. A folder is SMaLL-100's if it names the class, or has the
// file with its code.
//
// A language is a special token, which texts leave out. M2M100Tokenizer takes
// it for one only if the folder lists it, as published folders do: otherwise it
// is not found in a text that is read, but is left out here, too, of one that
// is written. Of SMaLL-100 all languages are listed.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/M2M100Tokenizer.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

/// Those of `language_codes`, in the order of their ids.
static constexpr StringLiteral kM2M100[] = {
    "af",  "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br", "bs", "ca",
    "ceb", "cs", "cy", "da",  "de", "el", "en", "es", "et", "fa", "ff", "fi",
    "fr",  "fy", "ga", "gd",  "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu",
    "hy",  "id", "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km", "kn",
    "ko",  "lb", "lg", "ln",  "lo", "lt", "lv", "mg", "mk", "ml", "mn", "mr",
    "ms",  "my", "ne", "nl",  "no", "ns", "oc", "or", "pa", "pl", "ps", "pt",
    "ro",  "ru", "sd", "si",  "sk", "sl", "so", "sq", "sr", "ss", "su", "sv",
    "sw",  "ta", "th", "tl",  "tn", "tr", "uk", "ur", "uz", "vi", "wo", "xh",
    "yi",  "yo", "zh", "zu"};
static constexpr StringLiteral kWmt21[] = {"en", "ha", "is", "ja",
                                           "cs", "ru", "zh", "de"};

static constexpr DefaultToken kTokens[] = {{"bos_token", "<s>"},
                                           {"eos_token", "</s>"},
                                           {"unk_token", "<unk>"},
                                           {"sep_token", "</s>"},
                                           {"pad_token", "<pad>"}};

static constexpr StringLiteral kModelFile = "sentencepiece.bpe.model",
                               kNumbersFile = "vocab.json",
                               kSmall100Class = "SMALL100Tokenizer",
                               kSmall100Code = "tokenization_small100.py";

/// "__en__" of "en".
static std::string tokenOf(StringRef language) {
  return ("__" + language + "__").str();
}

/// The languages of the class.
static Expected<ArrayRef<StringLiteral>>
chooseLanguages(const TokenizerFiles &files) {
  const json::Value *codes = files.config.get("language_codes");
  if (!codes || *codes == json::Value("m2m100"))
    return ArrayRef(kM2M100);
  if (*codes == json::Value("wmt21"))
    return ArrayRef(kWmt21);
  return refuseTokenizerField(files.configPath(), "language_codes", *codes,
                              "m2m100, wmt21");
}

/// The language in front of a text if a request names none: that of a field.
static Expected<std::string> readLanguage(const TokenizerFiles &files,
                                          StringRef field,
                                          ArrayRef<StringLiteral> languages) {
  const json::Value *value = files.config.get(field);
  if (!value || value->getAsNull())
    return tokenOf("en");
  std::optional<StringRef> name = value->getAsString();
  if (name && is_contained(languages, *name))
    return tokenOf(*name);
  return makeError("'" + files.configPath() + "' has '" + field +
                   "' with the value " + formatJson(*value) +
                   " (supported: " + join(languages, ", ") + ")");
}

/// Puts the languages behind the pieces of vocab.json, of which there are
/// `count`. A folder may have added them, too, and then has to give them these
/// ids.
static Error addLanguages(ArrayRef<StringLiteral> languages, int64_t count,
                          std::vector<std::string> &pieces) {
  PieceIds ids(pieces);
  for (auto [i, language] : enumerate(languages)) {
    std::string token = tokenOf(language);
    size_t id = size_t(count) + i;
    if (id >= pieces.size())
      pieces.resize(id + 1);
    std::optional<int64_t> known = ids.find(token);
    if (known && size_t(*known) != id)
      return make_error<UnsupportedTokenizer>(
          "the language '" + token + "' has the id " + std::to_string(*known) +
          " (supported: " + std::to_string(id) + ", behind the " +
          std::to_string(count) + " pieces of 'vocab.json')");
    if (!known && !pieces[id].empty())
      return make_error<UnsupportedTokenizer>(
          "the piece '" + pieces[id] + "' has the id " + std::to_string(id) +
          ", which is that of the language '" + token + "'");
    pieces[id] = token;
  }
  return Error::success();
}

namespace {
/// What the files of a folder say.
struct M2M100Pieces {
  SentencePieceModel model;
  std::vector<std::string> pieces;
  AddedTokenTable added;
  int64_t eos, unknown;
};
} // namespace

static Expected<M2M100Pieces> readPieces(const TokenizerFiles &files,
                                         ArrayRef<SpecialToken> special,
                                         ArrayRef<StringLiteral> languages,
                                         int64_t vocabulary) {
  if (Error error = checkTokenizerConfig(files, /*isSlow=*/true))
    return std::move(error);
  M2M100Pieces read;
  Expected<SentencePieceModel> model =
      readSentencePieceModel(files.path(kModelFile));
  if (!model)
    return model.takeError();
  read.model = std::move(*model);
  std::string path = files.path(kNumbersFile);
  Expected<json::Object> ids = readJsonFile(path);
  if (!ids)
    return ids.takeError();
  auto count = int64_t(ids->size());
  Expected<std::vector<std::string>> pieces =
      numberPieces(*ids, path, vocabulary);
  if (!pieces)
    return pieces.takeError();
  read.pieces = std::move(*pieces);
  for (auto [field, id] :
       {std::pair("eos_token", &read.eos), {"unk_token", &read.unknown}}) {
    Expected<int64_t> found =
        findPiece(read.pieces, textOf(files, kTokens, field), path);
    if (!found)
      return found.takeError();
    *id = *found;
  }
  Expected<AddedTokenTable> added =
      addTokensToPieces(files, special, count, read.pieces);
  if (!added)
    return added.takeError();
  read.added = std::move(*added);
  if (Error error = addLanguages(languages, count, read.pieces))
    return std::move(error);
  return read;
}

/// The names of languages that the model has rows for, and their ids.
static void describeLanguages(ArrayRef<StringLiteral> languages,
                              const PieceIds &ids, int64_t vocabulary,
                              json::Object &manifest) {
  json::Array names, tokens;
  for (StringRef language : languages)
    if (int64_t id = *ids.find(tokenOf(language)); id < vocabulary) {
      names.push_back(tokenOf(language));
      tokens.push_back(id);
      if (json::Array &special = *manifest.getArray("special");
          !is_contained(special, json::Value(id)))
        special.push_back(id);
    }
  manifest["languages"] = std::move(names);
  manifest["language_tokens"] = std::move(tokens);
}

Expected<ImportedTokenizer> readM2M100Tokenizer(const TokenizerFiles &files,
                                                int64_t vocabulary) {
  Expected<bool> isThere = files.hasAll({kModelFile, kNumbersFile});
  if (!isThere)
    return isThere.takeError();
  if (!*isThere)
    return ImportedTokenizer();
  bool readsTarget =
      files.className == kSmall100Class || files.has(kSmall100Code);
  Expected<ArrayRef<StringLiteral>> languages = chooseLanguages(files);
  if (!languages)
    return languages.takeError();
  Expected<std::string> language =
      readLanguage(files, readsTarget ? "tgt_lang" : "src_lang", *languages);
  if (!language)
    return language.takeError();
  std::vector<SpecialToken> special = listSpecial(files, kTokens);
  if (readsTarget)
    for (StringRef each : *languages)
      appendSpecial(SpecialToken{tokenOf(each), std::nullopt}, special);
  Expected<M2M100Pieces> read =
      readPieces(files, special, *languages, vocabulary);
  if (!read)
    return read.takeError();

  PieceIds ids(read->pieces);
  int64_t front = *ids.find(*language);
  ImportedTokenizer tokenizer;
  tokenizer.manifest =
      json::Object{{"kind", "sentencepiece"},
                   {"bos", front},
                   {"eos", read->eos},
                   {"unknown", read->unknown},
                   {"special", idsOfSpecial(read->added)},
                   {"target_language", readsTarget ? "source" : "forced_bos"}};
  describeLanguages(*languages, ids, vocabulary, tokenizer.manifest);
  if (files.isTrue("clean_up_tokenization_spaces"))
    tokenizer.manifest["clean_up"] = 1;

  StageList stages;
  PieceNumbers numbers{read->pieces, read->unknown};
  if (!read->added.entries.empty())
    stages.add(format::kFindTokensSlowly, StageList::kBothSides,
               buildAddedTokens(read->added));
  stages.add(format::kVocabulary, StageList::kBothSides,
             buildVocabulary(read->pieces));
  addSentencePieceCutter(read->model, StageList::kBothSides, stages);
  addPieceNumbers(read->model, numbers, StageList::kBothSides, stages);
  addSentencePieceJoiner(read->model, &numbers, stages);
  TemplateTable around = TemplateTable::around(front, read->eos);
  around.language = 0;
  around.addTo(stages);
  tokenizer.specialCount = around.countSpecial();
  tokenizer.setStages(stages);
  return tokenizer;
}

} // namespace heddle
