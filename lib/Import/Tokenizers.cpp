//===- Tokenizers.cpp - What turns text into ids --------------------------===//
//
// Models are read here once and become the tables that the runtime uses, so
// that what it could not read is refused here. Every id that a tokenizer can
// yield must be one of the model's vocabulary: the embedding trusts it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers.h"
#include "lib/Import/SentencePieceTable.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace heddle {

/// A SentencePiece model that numbers the pieces of a vocabulary.
static Expected<SentencePieceModel>
readNumberingModel(const VocabularyFile &file) {
  Expected<SentencePieceModel> model = readSentencePieceModel(file.path);
  if (!model)
    return model;
  if (model->pieceCount() != file.size)
    return makeError("'" + file.path + "' has " + Twine(model->pieceCount()) +
                     " pieces but the model's vocabulary has " +
                     Twine(file.size));
  if (model->eos < 0)
    return makeError("'" + file.path + "' has no end-of-sentence piece");
  return model;
}

Expected<ImportedTokenizer>
readSentencePieceTokenizer(const VocabularyFile &source,
                           const VocabularyFile &target) {
  Expected<SentencePieceModel> sourceModel = readNumberingModel(source);
  if (!sourceModel)
    return sourceModel.takeError();
  Expected<SentencePieceModel> targetModel = readNumberingModel(target);
  if (!targetModel)
    return targetModel.takeError();
  ImportedTokenizer tokenizer;
  tokenizer.targetEos = targetModel->eos;
  tokenizer.manifest = json::Object{{"kind", "sentencepiece"},
                                    {"eos", sourceModel->eos},
                                    {"unknown", sourceModel->unknown},
                                    {"special", json::Array{targetModel->eos}}};
  tokenizer.sections.push_back(
      {"tokenizer.source", buildSentencePieceTable(*sourceModel)});
  if (source.path != target.path)
    tokenizer.sections.push_back(
        {"tokenizer.target", buildSentencePieceTable(*targetModel)});
  return tokenizer;
}

Expected<json::Object> readJsonFile(const Twine &path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return parseJsonObject((*buffer)->getBuffer(), path.str());
}

Expected<std::vector<std::string>> numberPieces(const json::Object &ids,
                                                StringRef path, int64_t size) {
  std::vector<std::string> pieces(size);
  for (const auto &[piece, value] : ids) {
    std::optional<int64_t> id = value.getAsInteger();
    StringRef text = piece;
    if (!id || *id < 0 || *id >= size)
      return makeError("'" + path + "' numbers the piece '" + text + "' with " +
                       formatJson(value) + " but the vocabulary has " +
                       Twine(size) + " ids");
    if (text.empty())
      return makeError("'" + path + "' numbers the empty piece");
    if (!pieces[*id].empty())
      // The order of a hash table must not show in the sentence.
      return makeError("'" + path + "' gives the id " + Twine(*id) +
                       " to two pieces");
    pieces[*id] = text.str();
  }
  return pieces;
}

Expected<int64_t> findPiece(ArrayRef<std::string> pieces, StringRef piece,
                            StringRef path) {
  auto found = llvm::find(pieces, piece);
  if (found == pieces.end())
    return makeError("'" + path + "' has no piece '" + piece + "'");
  return found - pieces.begin();
}

/// Refuses the options of `tokenizer_config.json` that change the ids.
static Error checkTokenizerConfig(StringRef path) {
  if (!sys::fs::exists(path))
    return Error::success();
  Expected<json::Object> config = readJsonFile(path);
  if (!config)
    return config.takeError();
  if (config->getBoolean("separate_vocabs").value_or(false))
    return makeError("'" + path + "' has 'separate_vocabs' with the value " +
                     "true (supported: false)");
  return Error::success();
}

Expected<ImportedTokenizer>
readNumberedTokenizer(StringRef source, StringRef target,
                      const json::Object &ids, const VocabularyFile &numbers) {
  Expected<SentencePieceModel> sourceModel = readSentencePieceModel(source);
  if (!sourceModel)
    return sourceModel.takeError();
  Expected<SentencePieceModel> targetModel = readSentencePieceModel(target);
  if (!targetModel)
    return targetModel.takeError();
  auto pieces = numberPieces(ids, numbers.path, numbers.size);
  if (!pieces)
    return pieces.takeError();
  Expected<int64_t> eos = findPiece(*pieces, "</s>", numbers.path);
  if (!eos)
    return eos.takeError();
  Expected<int64_t> unknown = findPiece(*pieces, "<unk>", numbers.path);
  if (!unknown)
    return unknown.takeError();

  ImportedTokenizer tokenizer;
  tokenizer.targetEos = *eos;
  json::Array special{*eos, *unknown};
  if (auto pad = llvm::find(*pieces, "<pad>"); pad != pieces->end())
    special.push_back(int64_t(pad - pieces->begin()));
  tokenizer.manifest = json::Object{{"kind", "sentencepiece"},
                                    {"eos", *eos},
                                    {"unknown", *unknown},
                                    {"special", std::move(special)}};
  tokenizer.sections.push_back(
      {"tokenizer.source", buildSentencePieceTable(*sourceModel)});
  tokenizer.sections.push_back(
      {"tokenizer.target", buildSentencePieceTable(*targetModel)});
  tokenizer.sections.push_back(
      {"tokenizer.vocabulary",
       buildVocabularyTable(*pieces, *sourceModel, *targetModel)});
  return tokenizer;
}

Expected<ImportedTokenizer> readMarianMtTokenizer(StringRef folder,
                                                  int64_t vocabulary) {
  auto inFolder = [&](StringRef name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return path.str().str();
  };
  std::string source = inFolder("source.spm"), target = inFolder("target.spm"),
              numbers = inFolder("vocab.json");
  if (!sys::fs::exists(source) && !sys::fs::exists(target) &&
      !sys::fs::exists(numbers))
    return ImportedTokenizer();

  if (Error error = checkTokenizerConfig(inFolder("tokenizer_config.json")))
    return std::move(error);
  Expected<json::Object> ids = readJsonFile(numbers);
  if (!ids)
    return ids.takeError();
  return readNumberedTokenizer(source, target, *ids, {numbers, vocabulary});
}

/// Refuses a table with more characters than the vocabulary has ids.
static Error checkTable(StringRef name, StringRef characters,
                        int64_t vocabulary) {
  int64_t count = count_if(characters, [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  });
  if (count <= vocabulary)
    return Error::success();
  return makeError("'" + name + "' has " + Twine(count) +
                   " characters but the vocabulary has " + Twine(vocabulary));
}

Expected<ImportedTokenizer> makeCharacterTokenizer(StringRef source,
                                                   StringRef target,
                                                   std::optional<int64_t> bos,
                                                   std::optional<int64_t> eos,
                                                   int64_t vocabulary) {
  // Characters outside the table: the convention of the g2p models that have
  // one, whose tables leave ids 0 to 3 to special symbols.
  constexpr int64_t unknown = 3;
  if (Error error = checkTable("grapheme_chars", source, vocabulary))
    return std::move(error);
  if (Error error = checkTable("phoneme_chars", target, vocabulary))
    return std::move(error);
  if (unknown >= vocabulary)
    return makeError("'grapheme_chars' needs the id 3 for unknown characters " +
                     ("but the vocabulary has " + Twine(vocabulary)));
  ImportedTokenizer tokenizer;
  tokenizer.manifest = json::Object{{"kind", "characters"},
                                    {"source", source.str()},
                                    {"target", target.str()},
                                    {"unknown", unknown}};
  if (bos)
    tokenizer.manifest["bos"] = *bos;
  if (eos)
    tokenizer.manifest["eos"] = *eos;
  return tokenizer;
}

} // namespace heddle
