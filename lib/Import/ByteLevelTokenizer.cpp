//===- ByteLevelTokenizer.cpp - Reads byte pairs of a folder --------------===//
//
// What changes ids or text is read or refused; the rest of the files is the
// Python library's.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/ByteLevelTokenizer.h"
#include "lib/Import/BytePairTable.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "runtime/TokenizerFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace llvm;

namespace heddle {

namespace {
/// What a folder says, before ids are looked up.
struct BytePairFiles {
  BytePairVocabulary vocabulary;
  /// Tokens that are found in text as a whole, and where their ids stand.
  std::map<std::string, uint32_t> flags;
  std::map<std::string, int64_t> ids;
  std::set<std::string> special;
  /// By the names of their fields.
  std::map<StringRef, std::string> tokens;
  bool cleansUp = false;
  /// The file with the pieces, for sentences.
  std::string path;
};
} // namespace

/// The fields of special tokens, and what BartTokenizer has for them.
static constexpr std::pair<StringLiteral, StringLiteral> kSpecialTokens[] = {
    {"bos_token", "<s>"},    {"eos_token", "</s>"},  {"sep_token", "</s>"},
    {"cls_token", "<s>"},    {"unk_token", "<unk>"}, {"pad_token", "<pad>"},
    {"mask_token", "<mask>"}};

/// Classes whose tokenizers are BART's.
static constexpr StringLiteral kClasses[] = {
    "BartTokenizer",    "BartTokenizerFast", "LEDTokenizer",
    "LEDTokenizerFast", "RobertaTokenizer",  "RobertaTokenizerFast"};

static uint32_t readFlags(const json::Object &token) {
  return (token.getBoolean("lstrip").value_or(false) ? format::kStripsLeft
                                                     : 0) |
         (token.getBoolean("rstrip").value_or(false) ? format::kStripsRight
                                                     : 0);
}

/// Adds the token that an object with "content" describes; of two descriptions
/// the later counts.
static Error addToken(const json::Object &token, std::optional<int64_t> id,
                      StringRef path, BytePairFiles &files) {
  std::optional<StringRef> content = token.getString("content");
  if (!content || content->empty())
    return makeError("'" + path + "' has an added token without 'content'");
  if (token.getBoolean("single_word").value_or(false))
    return makeError("'" + path + "' has the added token '" + *content +
                     "' with 'single_word' true (supported: false)");
  files.flags[content->str()] = readFlags(token);
  if (id)
    files.ids[content->str()] = *id;
  if (token.getBoolean("special").value_or(false))
    files.special.insert(content->str());
  return Error::success();
}

/// Reads the fields of special tokens, texts or objects.
static Error readSpecialTokens(const json::Object &config, StringRef path,
                               BytePairFiles &files) {
  for (const auto &[field, byDefault] : kSpecialTokens) {
    if (std::optional<StringRef> text = config.getString(field))
      files.tokens[field] = text->str();
    const json::Object *token = config.getObject(field);
    if (!token)
      continue;
    if (Error error = addToken(*token, std::nullopt, path, files))
      return error;
    files.tokens[field] = token->getString("content")->str();
  }
  return Error::success();
}

static Error refuseField(StringRef path, StringRef field,
                         const json::Value &value, const Twine &supported) {
  return makeError("'" + path + "' has '" + field + "' with the value " +
                   formatJson(value) + " (supported: " + supported + ")");
}

/// Reads the fields of `tokenizer_config.json` that change ids or text.
static Error readTokenizerConfig(const json::Object &config, StringRef path,
                                 BytePairFiles &files) {
  auto requireValue = [&](StringRef field, const json::Value &value) -> Error {
    const json::Value *found = config.get(field);
    if (!found || found->kind() == json::Value::Null || *found == value)
      return Error::success();
    return refuseField(path, field, *found, formatJson(value));
  };
  if (Error error = requireValue("add_prefix_space", false))
    return error;
  if (Error error = requireValue("errors", "replace"))
    return error;
  if (std::optional<StringRef> name = config.getString("tokenizer_class");
      name && !is_contained(kClasses, *name))
    return refuseField(path, "tokenizer_class", *name,
                       join(ArrayRef(kClasses), ", "));
  files.cleansUp =
      config.getBoolean("clean_up_tokenization_spaces").value_or(false);
  const json::Object *added = config.getObject("added_tokens_decoder");
  for (const auto &[id, token] : added ? *added : json::Object()) {
    int64_t number;
    const json::Object *object = token.getAsObject();
    if (!object || StringRef(id).getAsInteger(10, number))
      return makeError("'" + path + "' has an added token '" + StringRef(id) +
                       "' that is no id with an object");
    if (Error error = addToken(*object, number, path, files))
      return error;
  }
  return readSpecialTokens(config, path, files);
}

/// Reads `vocab.json` and `merges.txt`.
static Error readPlainFiles(const std::string &vocabularyPath,
                            const std::string &mergesPath, int64_t vocabulary,
                            BytePairFiles &files) {
  files.path = vocabularyPath;
  Expected<json::Object> ids = readJsonFile(vocabularyPath);
  if (!ids)
    return ids.takeError();
  auto pieces = numberPieces(*ids, vocabularyPath, vocabulary);
  if (!pieces)
    return pieces.takeError();
  files.vocabulary.pieces = std::move(*pieces);
  auto buffer = mapFile(mergesPath);
  if (!buffer)
    return buffer.takeError();
  // The first line is the version.
  StringRef rest = (*buffer)->getBuffer().split('\n').second, line;
  while (!rest.empty()) {
    std::tie(line, rest) = rest.split('\n');
    line = line.rtrim('\r');
    if (line.empty())
      continue;
    auto [left, right] = line.split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return makeError("'" + mergesPath + "' has the line '" + line +
                       "' (expected two pieces)");
    files.vocabulary.merges.emplace_back(left, right);
  }
  return Error::success();
}

/// A part of tokenizer.json that must not do more than is written here.
static Error requireType(const json::Object &tokenizer, StringRef part,
                         StringRef type, StringRef path) {
  const json::Object *object = tokenizer.getObject(part);
  if (object && object->getString("type") == type &&
      !object->getBoolean("add_prefix_space").value_or(false) &&
      object->getBoolean("use_regex").value_or(true))
    return Error::success();
  json::Value found =
      object ? json::Value(json::Object(*object)) : json::Value(nullptr);
  return refuseField(path, part, found,
                     type + " without a prefix space, with its pattern");
}

/// Reads the model of `tokenizer.json`.
static Error readTokenizerJson(const json::Object &tokenizer,
                               const std::string &path, int64_t vocabulary,
                               BytePairFiles &files) {
  files.path = path;
  if (const json::Value *normalizer = tokenizer.get("normalizer");
      normalizer && normalizer->kind() != json::Value::Null)
    return refuseField(path, "normalizer", *normalizer, "null");
  if (Error error = requireType(tokenizer, "pre_tokenizer", "ByteLevel", path))
    return error;
  const json::Object &model = *tokenizer.getObject("model");
  const json::Object *ids = model.getObject("vocab");
  const json::Array *merges = model.getArray("merges");
  if (!ids || !merges)
    return makeError("'" + path + "' has a model without 'vocab' or 'merges'");
  auto pieces = numberPieces(*ids, path, vocabulary);
  if (!pieces)
    return pieces.takeError();
  files.vocabulary.pieces = std::move(*pieces);
  for (const json::Value &merge : *merges) {
    // "a b", or since tokenizers 0.20 ["a", "b"].
    StringRef left, right;
    if (std::optional<StringRef> text = merge.getAsString())
      std::tie(left, right) = text->split(' ');
    else if (const json::Array *pair = merge.getAsArray();
             pair && pair->size() == 2) {
      left = (*pair)[0].getAsString().value_or("");
      right = (*pair)[1].getAsString().value_or("");
    }
    if (left.empty() || right.empty())
      return makeError("'" + path + "' has the merge " + formatJson(merge) +
                       " (expected two pieces)");
    files.vocabulary.merges.emplace_back(left, right);
  }
  const json::Array *added = tokenizer.getArray("added_tokens");
  for (const json::Value &token : added ? *added : json::Array())
    if (const json::Object *object = token.getAsObject())
      if (Error error =
              addToken(*object, object->getInteger("id"), path, files))
        return error;
  return Error::success();
}

/// Gives added tokens their ids, which may be those of pieces.
static Error numberAdded(BytePairFiles &files) {
  std::vector<std::string> &pieces = files.vocabulary.pieces;
  for (const auto &[token, id] : files.ids) {
    if (id < 0 || id >= int64_t(pieces.size()))
      return makeError("'" + files.path + "' has " + Twine(pieces.size()) +
                       " ids, but the token '" + token + "' was added as " +
                       Twine(id));
    if (!pieces[id].empty() && pieces[id] != token)
      return makeError("'" + files.path + "' has the piece '" + pieces[id] +
                       "' where the token '" + token + "' was added");
    pieces[id] = token;
  }
  return Error::success();
}

/// The ids of the tokens, and the section.
static Expected<ImportedTokenizer> makeTokenizer(BytePairFiles &files) {
  if (Error error = numberAdded(files))
    return std::move(error);
  ImportedTokenizer tokenizer;
  tokenizer.manifest = json::Object{{"kind", "byte-level"}};
  auto setId = [&](StringRef key, StringRef field) -> Error {
    Expected<int64_t> id =
        findPiece(files.vocabulary.pieces, files.tokens[field], files.path);
    if (!id)
      return id.takeError();
    tokenizer.manifest[key] = *id;
    return Error::success();
  };
  for (auto [key, field] : {std::pair("bos", "cls_token"),
                            {"eos", "sep_token"},
                            {"unknown", "unk_token"}})
    if (Error error = setId(key, field))
      return std::move(error);
  if (files.cleansUp)
    tokenizer.manifest["clean_up"] = 1;
  json::Array special;
  for (auto [id, piece] : enumerate(files.vocabulary.pieces)) {
    if (auto flags = files.flags.find(piece); flags != files.flags.end())
      files.vocabulary.added.emplace_back(id, flags->second);
    if (files.special.count(piece))
      special.push_back(int64_t(id));
  }
  tokenizer.manifest["special"] = std::move(special);
  Expected<std::string> table =
      buildBytePairTable(files.vocabulary, files.path);
  if (!table)
    return table.takeError();
  tokenizer.sections.push_back({"tokenizer.pairs", std::move(*table)});
  return tokenizer;
}

/// Reads a mapping from tokens to ids.
static Error readAddedTokens(const json::Object &ids, StringRef path,
                             BytePairFiles &files) {
  for (const auto &[token, id] : ids) {
    if (!id.getAsInteger())
      return makeError("'" + path + "' gives the token '" + StringRef(token) +
                       "' the id " + formatJson(id));
    files.flags.try_emplace(StringRef(token).str(), 0);
    files.ids[StringRef(token).str()] = *id.getAsInteger();
  }
  return Error::success();
}

/// Files of special tokens, the stronger later, where there are any.
static Error readTokenFiles(function_ref<std::string(StringRef)> inFolder,
                            BytePairFiles &files) {
  constexpr std::pair<StringLiteral, decltype(&readSpecialTokens)> readers[] = {
      {"special_tokens_map.json", &readSpecialTokens},
      {"tokenizer_config.json", &readTokenizerConfig},
      {"added_tokens.json", &readAddedTokens}};
  for (const auto &[name, read] : readers) {
    std::string path = inFolder(name);
    if (!sys::fs::exists(path))
      continue;
    Expected<json::Object> object = readJsonFile(path);
    if (!object)
      return object.takeError();
    if (Error error = read(*object, path, files))
      return error;
  }
  return Error::success();
}

Expected<ImportedTokenizer> readByteLevelTokenizer(StringRef folder,
                                                   int64_t vocabulary) {
  auto inFolder = [&](StringRef name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return path.str().str();
  };
  std::string merges = inFolder("merges.txt"),
              whole = inFolder("tokenizer.json");
  BytePairFiles files;
  for (const auto &[field, byDefault] : kSpecialTokens)
    files.tokens[field] = byDefault.str();
  files.flags["<mask>"] = format::kStripsLeft;
  if (sys::fs::exists(merges)) {
    if (Error error =
            readPlainFiles(inFolder("vocab.json"), merges, vocabulary, files))
      return std::move(error);
  } else if (sys::fs::exists(whole)) {
    Expected<json::Object> object = readJsonFile(whole);
    if (!object)
      return object.takeError();
    const json::Object *model = object->getObject("model");
    if (!model || model->getString("type") != "BPE")
      return ImportedTokenizer();
    if (Error error = readTokenizerJson(*object, whole, vocabulary, files))
      return std::move(error);
  } else if (sys::fs::exists(inFolder("vocab.json"))) {
    return makeError("'" + folder +
                     "' has 'vocab.json' but no 'merges.txt', "
                     "which says how text becomes its pieces");
  } else {
    return ImportedTokenizer();
  }
  if (Error error = readTokenFiles(inFolder, files))
    return std::move(error);
  for (const auto &[field, token] : files.tokens) {
    files.flags.try_emplace(token, 0);
    files.special.insert(token);
  }
  return makeTokenizer(files);
}

} // namespace heddle
