//===- CTranslate2Tokenizer.cpp - What cuts texts into tokens -------------===//
//
// What stands around a source is CTranslate2's to add if config.json says so.
// Models of MarianMT are the exception: their tokenizer ends a source, and
// their converter leaves that to it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Tokenizer.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

static constexpr StringLiteral kWhole = "tokenizer.json";

/// SentencePiece models of both sides.
static constexpr StringLiteral kModels[] = {"sentencepiece.model",
                                            "spiece.model", "tokenizer.model"};

/// Tokenizers that are not read.
static constexpr StringLiteral kOthers[] = {
    "bpe.model", "sentencepiece.bpe.model", "bpe.codes"};

namespace {
/// A side's pieces by their ids, all different, and the unknown one's id.
struct Side {
  std::vector<std::string> pieces;
  int64_t unknown;
};
} // namespace

static Side sideOf(const CTranslate2Vocabulary &vocabulary, StringRef unknown) {
  Side side{vocabulary.tokens, 0};
  // CTranslate2 appends it to a vocabulary that lacks it.
  if (!vocabulary.find(unknown))
    side.pieces.push_back(unknown.str());
  StringSet<> seen;
  for (std::string &piece : side.pieces)
    if (!seen.insert(piece).second)
      piece.clear();
  side.unknown = llvm::find(side.pieces, unknown) - side.pieces.begin();
  return side;
}

static Expected<SentencePieceModel> readModel(const CTranslate2Files &files,
                                              StringRef name) {
  auto buffer = files.read(name);
  if (!buffer)
    return buffer.takeError();
  return parseSentencePieceModel((*buffer)->getBuffer(), files.pathOf(name));
}

static Expected<ImportedTokenizer>
readPieces(Expected<SentencePieceModel> sourceModel,
           Expected<SentencePieceModel> targetModel,
           const CTranslate2Folder &folder, const CTranslate2Config &config) {
  if (!sourceModel) {
    consumeError(targetModel.takeError());
    return sourceModel.takeError();
  }
  if (!targetModel)
    return targetModel.takeError();
  Side source = sideOf(folder.source, config.unknown),
       target = sideOf(folder.target, config.unknown);
  std::optional<int64_t> end = config.sourceEos;
  if (config.startsFromZero)
    end = end ? end : folder.source.find("</s>");

  ImportedTokenizer tokenizer;
  tokenizer.manifest =
      json::Object{{"kind", "sentencepiece"},
                   {"unknown", source.unknown},
                   {"special", json::Array{config.eos, target.unknown}}};
  if (config.sourceBos)
    tokenizer.manifest["bos"] = *config.sourceBos;
  if (end)
    tokenizer.manifest["eos"] = *end;
  StageList stages;
  for (auto [model, side, uses] :
       {std::tuple(&*sourceModel, &source, format::kUsedForSource),
        {&*targetModel, &target, format::kUsedForTarget}}) {
    stages.add(format::kVocabulary, uses, buildVocabulary(side->pieces));
    if (config.startsFromZero)
      stages.addHeader(format::kFindLanguageCode, uses,
                       format::CodesHeader{uint32_t(side->unknown), 0});
    addSentencePieceCutter(*model, uses, stages);
    addPieceNumbers(*model, {side->pieces, side->unknown}, uses, stages);
  }
  PieceNumbers numbers{target.pieces, target.unknown};
  addSentencePieceJoiner(*targetModel, &numbers, stages);
  TemplateTable::around(config.sourceBos, end).addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
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
  ImportedTokenizer none;
  for (StringRef name : kOthers)
    if (files.has(name))
      none.manifest["reason"] =
          ("the folder has '" + name + "' (supported: tokenizer.json, " +
           "source.spm and target.spm, sentencepiece.model)")
              .str();
  return none;
}

} // namespace heddle
