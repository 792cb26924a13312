//===- CTranslate2Tokenizer.cpp - What cuts texts into tokens -------------===//
//
// What stands around a source is CTranslate2's to add if config.json says so.
// Models of MarianMT are the exception: their tokenizer ends a source, and
// their converter leaves that to it.
//
// Merges of subword-nmt cut words at spaces alone: argos-translate separates
// punctuation from them by Moses' rules before.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Tokenizer.h"
#include "lib/Import/Tokenizers/NumberedTokens.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kWhole = "tokenizer.json";

/// SentencePiece models of both sides.
static constexpr StringLiteral kModels[] = {"sentencepiece.model",
                                            "spiece.model", "tokenizer.model"};

/// Merges of subword-nmt, if they are text.
static constexpr StringLiteral kMerges = "bpe.model";

/// Tokenizers that are not read.
static constexpr StringLiteral kOthers[] = {kMerges, "sentencepiece.bpe.model",
                                            "bpe.codes"};

static TokenList listOf(const CTranslate2Vocabulary &vocabulary,
                        StringRef unknown) {
  TokenList list{vocabulary.tokens, 0};
  // CTranslate2 appends it to a vocabulary that lacks it.
  if (!vocabulary.find(unknown))
    list.tokens.push_back(unknown.str());
  list.unknown = llvm::find(list.tokens, unknown) - list.tokens.begin();
  return list;
}

static Expected<SentencePieceModel> readModel(const CTranslate2Files &files,
                                              StringRef name) {
  auto buffer = files.read(name);
  if (!buffer)
    return buffer.takeError();
  return parseSentencePieceModel((*buffer)->getBuffer(), files.pathOf(name));
}

static NumberedTokens listsOf(const CTranslate2Folder &folder,
                              const CTranslate2Config &config) {
  NumberedTokens lists{listOf(folder.source, config.unknown),
                       listOf(folder.target, config.unknown),
                       config.sourceBos,
                       config.sourceEos,
                       {config.eos},
                       config.startsFromZero};
  lists.special.push_back(lists.target.unknown);
  if (config.startsFromZero && !lists.eos)
    lists.eos = folder.source.find("</s>");
  return lists;
}

/// Merges of the folder; none if it has none.
static Expected<std::optional<ImportedTokenizer>>
readMerges(const CTranslate2Folder &folder, const CTranslate2Config &config) {
  if (!folder.files.has(kMerges))
    return std::nullopt;
  auto buffer = folder.files.read(kMerges);
  if (!buffer)
    return buffer.takeError();
  StringRef text = (*buffer)->getBuffer();
  if (!text.starts_with("#version"))
    return std::nullopt;
  Expected<ImportedTokenizer> tokenizer = makeNumberedMerges(
      text, folder.files.pathOf(kMerges), listsOf(folder, config));
  if (!tokenizer)
    return tokenizer.takeError();
  return std::move(*tokenizer);
}

static Expected<ImportedTokenizer>
readPieces(Expected<SentencePieceModel> sourceModel,
           Expected<SentencePieceModel> targetModel,
           const CTranslate2Folder &folder, const CTranslate2Config &config) {
  NumberedTokens lists = listsOf(folder, config);
  return makeNumberedPieces(std::move(sourceModel), std::move(targetModel),
                            std::move(lists));
}

/// Fails unless the pieces of tokenizer.json are the tokens of the source.
static Error checkIds(StringRef path, const CTranslate2Vocabulary &source) {
  Expected<json::Object> whole = readJsonFile(path);
  if (!whole)
    return whole.takeError();
  auto check = [&](StringRef piece, int64_t id) -> Error {
    if (id < 0 || size_t(id) >= source.tokens.size() ||
        source.tokens[size_t(id)] == piece)
      return Error::success();
    return makeError("'" + path + "' gives the piece '" + piece + "' the id " +
                     Twine(id) + ", but that is '" + source.tokens[size_t(id)] +
                     "' in '" + source.path + "'");
  };
  const json::Object *model = whole->getObject("model");
  if (const json::Object *pieces = model ? model->getObject("vocab") : nullptr)
    for (const auto &[piece, id] : *pieces)
      if (Error error = check(piece, id.getAsInteger().value_or(-1)))
        return error;
  if (const json::Array *pieces = model ? model->getArray("vocab") : nullptr)
    for (const auto &[id, entry] : enumerate(*pieces))
      if (const json::Array *pair = entry.getAsArray(); pair && !pair->empty())
        if (Error error =
                check((*pair)[0].getAsString().value_or(""), int64_t(id)))
          return error;
  return Error::success();
}

static Expected<ImportedTokenizer> readWhole(StringRef path,
                                             const CTranslate2Folder &folder) {
  if (Error error = checkIds(path, folder.source))
    return std::move(error);
  return readFolderTokenizer(sys::path::parent_path(path),
                             "PreTrainedTokenizer",
                             int64_t(folder.source.tokens.size()));
}

Expected<ImportedTokenizer>
readCTranslate2Tokenizer(const CTranslate2Folder &folder,
                         const CTranslate2Config &config, StringRef file) {
  if (!file.empty() && sys::path::extension(file) == ".json") {
    if (sys::path::filename(file) == kWhole)
      return readWhole(file, folder);
    return makeError("--tokenizer has the value '" + file +
                     "', expected a file tokenizer.json or a SentencePiece "
                     "model");
  }
  if (!file.empty())
    return readPieces(readSentencePieceModel(file),
                      readSentencePieceModel(file), folder, config);
  const CTranslate2Files &files = folder.files;
  if (files.has(kWhole) && !files.isArchive())
    return readWhole(files.pathOf(kWhole), folder);
  if (files.has("source.spm") && files.has("target.spm"))
    return readPieces(readModel(files, "source.spm"),
                      readModel(files, "target.spm"), folder, config);
  for (StringRef name : kModels)
    if (files.has(name))
      return readPieces(readModel(files, name), readModel(files, name), folder,
                        config);
  Expected<std::optional<ImportedTokenizer>> merges =
      readMerges(folder, config);
  if (!merges)
    return merges.takeError();
  if (*merges)
    return std::move(**merges);
  ImportedTokenizer none;
  for (StringRef name : kOthers)
    if (files.has(name))
      none.manifest["reason"] =
          ("the folder has '" + name + "' (supported: tokenizer.json, " +
           "source.spm and target.spm, sentencepiece.model, bpe.model of "
           "subword-nmt)")
              .str();
  return none;
}

} // namespace heddle
