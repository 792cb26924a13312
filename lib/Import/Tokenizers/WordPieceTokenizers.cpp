//===- WordPieceTokenizers.cpp - Tokenizers of BERT and MPNet -------------===//
//
// Fields of tokenizer_config.json overwrite the normalizer of tokenizer.json,
// and so do their defaults: a cased file without `do_lower_case` is lower-cased
// (BertTokenizerFast.__init__ of transformers 4.57.6).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/WordPieceTokenizers.h"
#include "lib/Import/Tokenizers/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Support/Error.h"
#include "lib/Weights/MappedFile.h"

using namespace llvm;

namespace heddle {

namespace {
struct WordPieceClass {
  ArrayRef<DefaultToken> tokens;
  /// Whether `tokenize_chinese_chars` counts beside tokenizer.json.
  bool overwritesChinese;
};
} // namespace

static constexpr DefaultToken kBertTokens[] = {{"unk_token", "[UNK]"},
                                               {"sep_token", "[SEP]"},
                                               {"pad_token", "[PAD]"},
                                               {"cls_token", "[CLS]"},
                                               {"mask_token", "[MASK]"}};
using Form = DefaultToken::Form;
static constexpr DefaultToken kMPNetTokens[] = {
    {"bos_token", "<s>", Form::Object},
    {"eos_token", "</s>", Form::Object},
    {"unk_token", "[UNK]", Form::Object},
    {"sep_token", "</s>", Form::Object},
    {"pad_token", "<pad>", Form::Object},
    {"cls_token", "<s>", Form::Object},
    {"mask_token", "<mask>", Form::Object, /*stripsLeft=*/true}};

/// What the class says of the normalizer.
static json::Object normalizerOf(const json::Object &config) {
  auto flag = [&](StringRef field) {
    return config.getBoolean(field).value_or(true);
  };
  std::optional<bool> strips = config.getBoolean("strip_accents");
  return json::Object{
      {"lowercase", flag("do_lower_case")},
      {"strip_accents", strips ? json::Value(*strips) : json::Value(nullptr)},
      {"handle_chinese_chars", flag("tokenize_chinese_chars")}};
}

/// tokenizer.json with the normalizer that the class makes of it.
static json::Object overwriteNormalizer(const TokenizerFiles &files,
                                        const WordPieceClass &traits) {
  json::Object whole = *files.whole;
  json::Object *normalizer = whole.getObject("normalizer");
  if (!normalizer || normalizer->getString("type") != "BertNormalizer")
    return whole;
  for (auto &[field, value] : normalizerOf(files.config))
    if (traits.overwritesChinese || field != "handle_chinese_chars")
      (*normalizer)[field] = value;
  return whole;
}

/// `vocab.txt` as tokenizer.json would have it: the number of a line is the id
/// of its piece.
static Expected<json::Object> convertVocabulary(const TokenizerFiles &files,
                                                const WordPieceClass &traits) {
  std::string path = files.path("vocab.txt");
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  json::Object ids;
  StringRef rest = (*buffer)->getBuffer(), line;
  // Of equal lines the last counts, as in a Python dictionary.
  for (int64_t id = 0; !rest.empty(); ++id) {
    std::tie(line, rest) = rest.split('\n');
    std::string piece = line.rtrim('\r').str();
    if (!json::isUTF8(piece))
      return makeError("'" + path + "' has no UTF-8 in line " + Twine(id + 1));
    // An empty one counts, too: added tokens are numbered behind all.
    ids[piece] = id;
  }
  auto tokenOf = [&](StringRef field) {
    return textOf(files, traits.tokens, field);
  };
  json::Object normalizer = normalizerOf(files.config);
  normalizer["type"] = "BertNormalizer";
  json::Array first{tokenOf("cls_token"), nullptr},
      last{tokenOf("sep_token"), nullptr};
  return json::Object{
      {"model", json::Object{{"type", "WordPiece"},
                             {"vocab", std::move(ids)},
                             {"unk_token", tokenOf("unk_token")}}},
      {"normalizer", std::move(normalizer)},
      {"pre_tokenizer", json::Object{{"type", "BertPreTokenizer"}}},
      {"post_processor", json::Object{{"type", "BertProcessing"},
                                      {"cls", std::move(first)},
                                      {"sep", std::move(last)}}},
      {"decoder", json::Object{{"type", "WordPiece"}, {"prefix", "##"}}}};
}

static Expected<ImportedTokenizer> readClass(const TokenizerFiles &files,
                                             const WordPieceClass &traits,
                                             int64_t vocabulary) {
  auto read = [&](const json::Object &whole, StringRef name) {
    return readJsonTokenizer({files, whole, files.path(name), vocabulary,
                              listSpecial(files, traits.tokens),
                              files.wholeAdded});
  };
  if (files.whole)
    return read(overwriteNormalizer(files, traits), "tokenizer.json");
  if (!files.has("vocab.txt"))
    return ImportedTokenizer();
  Expected<json::Object> whole = convertVocabulary(files, traits);
  if (!whole)
    return whole.takeError();
  return read(*whole, "vocab.txt");
}

Expected<ImportedTokenizer> readBertTokenizer(const TokenizerFiles &files,
                                              int64_t vocabulary) {
  return readClass(files, {kBertTokens, /*overwritesChinese=*/true},
                   vocabulary);
}

Expected<ImportedTokenizer> readMPNetTokenizer(const TokenizerFiles &files,
                                               int64_t vocabulary) {
  return readClass(files, {kMPNetTokens, /*overwritesChinese=*/false},
                   vocabulary);
}

} // namespace heddle
