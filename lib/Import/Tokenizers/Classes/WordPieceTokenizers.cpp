//===- WordPieceTokenizers.cpp - Tokenizers of BERT and kin ---------------===//
//
// Fields of tokenizer_config.json overwrite the normalizer of tokenizer.json,
// and so do their defaults: a cased file without `do_lower_case` is lower-cased
// (BertTokenizerFast.__init__ of transformers 4.57.6).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/WordPieceTokenizers.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Import/Tokenizers/PythonText.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

using Form = DefaultToken::Form;
using Normalized = DefaultToken::Normalized;

static constexpr DefaultToken kBertTokens[] = {{"unk_token", "[UNK]"},
                                               {"sep_token", "[SEP]"},
                                               {"pad_token", "[PAD]"},
                                               {"cls_token", "[CLS]"},
                                               {"mask_token", "[MASK]"}};
static constexpr DefaultToken kFunnelTokens[] = {
    {"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
    {"sep_token", "<sep>"},  {"pad_token", "<pad>"}, {"cls_token", "<cls>"},
    {"mask_token", "<mask>"}};
static constexpr DefaultToken kMPNetTokens[] = {
    {"bos_token", "<s>", Form::Object, false, Normalized::Never},
    {"eos_token", "</s>", Form::Object, false, Normalized::Never},
    {"unk_token", "[UNK]", Form::Object, false, Normalized::Never},
    {"sep_token", "</s>", Form::Object, false, Normalized::Never},
    {"pad_token", "<pad>", Form::Object, false, Normalized::Never},
    {"cls_token", "<s>", Form::Object, false, Normalized::Never},
    {"mask_token", "<mask>", Form::Object, true, Normalized::Never}};

namespace {
struct WordPieceClass {
  /// As transformers calls it, without "Fast".
  StringLiteral name;
  ArrayRef<DefaultToken> tokens = kBertTokens;
  /// Whether `tokenize_chinese_chars` counts beside tokenizer.json.
  bool overwritesChinese = true;
  /// Whether it reads `vocab.txt`.
  bool converts = true;
  // Of a conversion: the type of the token in front of a text, and how many
  // stand between two.
  int64_t firstType = 0;
  int middleCount = 1;
};
} // namespace

/// In front of a piece that is no start of a word.
static constexpr StringLiteral kMark = "##";

static constexpr StringLiteral kSplinter = "SplinterTokenizer";

static const WordPieceClass kClasses[] = {
    {"BertTokenizer"},
    {"ConvBertTokenizer"},
    {"DPRContextEncoderTokenizer"},
    {"DPRQuestionEncoderTokenizer"},
    {"DPRReaderTokenizer"},
    {"DistilBertTokenizer"},
    {"ElectraTokenizer"},
    {"FunnelTokenizer", kFunnelTokens, true, true, /*firstType=*/2},
    {"LayoutLMTokenizer"},
    {"LayoutLMv2Tokenizer", kBertTokens, /*overwritesChinese=*/false},
    {"LxmertTokenizer"},
    {"MPNetTokenizer", kMPNetTokens, /*overwritesChinese=*/false, true, 0,
     /*middleCount=*/2},
    {"MobileBertTokenizer"},
    {"RealmTokenizer"},
    {"RetriBertTokenizer"},
    {kSplinter, kBertTokens, /*overwritesChinese=*/false, /*converts=*/false},
    {"SqueezeBertTokenizer"}};

/// What the class says of the normalizer.
static json::Object normalizerOf(const TokenizerFiles &files) {
  std::optional<bool> strips = files.config.getBoolean("strip_accents");
  return json::Object{
      {"lowercase", files.isTrue("do_lower_case", /*byDefault=*/true)},
      {"strip_accents", strips ? json::Value(*strips) : json::Value(nullptr)},
      {"handle_chinese_chars",
       files.isTrue("tokenize_chinese_chars", /*byDefault=*/true)}};
}

/// tokenizer.json with the normalizer that the class makes of it.
static json::Object overwriteNormalizer(const TokenizerFiles &files,
                                        const WordPieceClass &traits) {
  json::Object whole = *files.whole;
  json::Object *normalizer = whole.getObject("normalizer");
  if (!normalizer || normalizer->getString("type") != "BertNormalizer")
    return whole;
  for (auto &[field, value] : normalizerOf(files))
    if (traits.overwritesChinese || field != "handle_chinese_chars")
      (*normalizer)[field] = value;
  return whole;
}

/// The number of a line of `vocab.txt` is the id of its piece.
static Expected<json::Object> readVocabulary(const std::string &path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  std::string text = readPythonText((*buffer)->getBuffer());
  json::Object ids;
  StringRef rest = text, line;
  // Of equal lines the last counts, as in a Python dictionary.
  for (int64_t id = 0; !rest.empty(); ++id) {
    std::tie(line, rest) = rest.split('\n');
    if (!json::isUTF8(line))
      return makeError("'" + path + "' has no UTF-8 in line " + Twine(id + 1));
    // An empty one counts, too: added tokens are numbered behind all.
    ids[line.str()] = id;
  }
  return ids;
}

/// `vocab.txt` as tokenizer.json would have it.
static Expected<json::Object> convertVocabulary(const TokenizerFiles &files,
                                                const WordPieceClass &traits) {
  Expected<json::Object> ids = readVocabulary(files.path("vocab.txt"));
  if (!ids)
    return ids.takeError();
  auto tokenOf = [&](StringRef field) {
    return textOf(files, traits.tokens, field);
  };
  json::Object normalizer = normalizerOf(files);
  normalizer["type"] = "BertNormalizer";
  normalizer["clean_text"] = true;
  // The template keeps the ids of the slow tokenizer.
  auto idOf = [&](StringRef piece) -> std::optional<int64_t> {
    return ids->getInteger(piece);
  };
  AddedTokenTable added = addSlowTokens(
      files, listSpecial(files, traits.tokens), {idOf, int64_t(ids->size())});
  auto itemOf = [&](StringRef field, int64_t type) {
    std::string text = tokenOf(field);
    std::optional<int64_t> id = added.find(text);
    return ClassItem{text, type, id ? id : idOf(text)};
  };
  ClassItem first = itemOf("cls_token", traits.firstType),
            last = itemOf("sep_token", 0), end = itemOf("sep_token", 1);
  std::vector<ClassItem> single{first, {kTextA.str()}, last}, pair = single;
  pair.insert(pair.end(), traits.middleCount - 1, last);
  pair.insert(pair.end(), {{kTextB.str(), 1}, end});
  return json::Object{
      {"model", json::Object{{"type", "WordPiece"},
                             {"vocab", std::move(*ids)},
                             {"unk_token", tokenOf("unk_token")},
                             {"continuing_subword_prefix", kMark},
                             {"max_input_chars_per_word", 100}}},
      {"normalizer", std::move(normalizer)},
      {"pre_tokenizer", json::Object{{"type", "BertPreTokenizer"}}},
      {"post_processor", buildTemplate(single, pair)},
      {"decoder", json::Object{{"type", "WordPiece"},
                               {"prefix", kMark},
                               {"cleanup", true}}}};
}

/// The token of Splinter that stands for a question is an additional one, which
/// its constructor takes no others beside.
static Expected<TokenizerFiles> nameQuestion(const TokenizerFiles &files) {
  auto refuse = [&](StringRef field, const Twine &supported) {
    return refuseTokenizerField(files.configPath(), field,
                                *files.config.get(field), supported);
  };
  if (files.additional && !files.config.get("additional_special_tokens"))
    return make_error<UnsupportedTokenizer>(
        ("'special_tokens_map.json' has additional special tokens, which " +
         kSplinter + " does not take")
            .str());
  if (files.additional)
    return refuse("additional_special_tokens", "none of " + kSplinter);
  const json::Value *question = files.config.get("question_token");
  if (question && !question->getAsString())
    return refuse("question_token", "a text");
  TokenizerFiles named = files;
  named.additional = {
      {question ? question->getAsString()->str() : "[QUESTION]", std::nullopt}};
  return named;
}

Expected<ImportedTokenizer> readWordPieceClass(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  const WordPieceClass &traits =
      *find_if(kClasses, [&](const WordPieceClass &each) {
        return each.name == files.className;
      });
  Expected<TokenizerFiles> named =
      traits.name == kSplinter ? nameQuestion(files) : files;
  if (!named)
    return named.takeError();
  auto read = [&](const json::Object &whole, StringRef name) {
    return readJsonTokenizer({*named, whole, files.path(name), vocabulary,
                              listSpecial(*named, traits.tokens),
                              files.wholeAdded});
  };
  if (files.whole)
    return read(overwriteNormalizer(files, traits), "tokenizer.json");
  if (!traits.converts || !files.has("vocab.txt"))
    return ImportedTokenizer();
  Expected<json::Object> whole = convertVocabulary(files, traits);
  if (!whole)
    return whole.takeError();
  return read(*whole, "vocab.txt");
}

} // namespace heddle
