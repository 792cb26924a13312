//===- Tokenizers.cpp - What turns text into ids --------------------------===//
//
// Models are read here once and become the tables that the runtime uses, so
// that what it could not read is refused here. Every id that a tokenizer can
// yield must be one of the model's vocabulary: the embedding trusts it.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Import/Tokenizers/AddedTokens.h"
#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/TemplateTable.h"
#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/ConvertUTF.h"
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

/// Whether a piece spells a control character as "<0x0A>".
static bool isControl(StringRef piece) {
  int byte = byteOf(piece);
  return byte >= 0 && byte < ' ';
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
  tokenizer.targetUnknown = targetModel->unknown;
  for (const auto &[id, piece] : enumerate(targetModel->pieces))
    if (isControl(piece.text))
      tokenizer.targetControls.push_back(int32_t(id));
  tokenizer.manifest = json::Object{{"kind", "sentencepiece"},
                                    {"eos", sourceModel->eos},
                                    {"unknown", sourceModel->unknown},
                                    {"special", json::Array{targetModel->eos}}};
  StageList stages;
  if (source.path == target.path) {
    addSentencePieceCutter(*sourceModel, StageList::kBothSides, stages);
  } else {
    addSentencePieceCutter(*sourceModel, format::kUsedForSource, stages);
    addSentencePieceCutter(*targetModel, format::kUsedForTarget, stages);
  }
  addSentencePieceJoiner(*targetModel, /*numbers=*/nullptr, stages);
  TemplateTable::around(std::nullopt, sourceModel->eos).addTo(stages);
  tokenizer.setStages(stages);
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
  constexpr int64_t holes = 1 << 12;
  int64_t limit = std::max(size, int64_t(ids.size()) + holes);
  std::vector<std::string> pieces(size);
  for (const auto &[piece, value] : ids) {
    std::optional<int64_t> id = value.getAsInteger();
    StringRef text = piece;
    if (!id || *id < 0 || *id >= limit)
      return makeError("'" + path + "' numbers the piece '" + text + "' with " +
                       formatJson(value) + " (expected a number below " +
                       Twine(limit) +
                       (limit == size ? ", the size of the model's vocabulary)"
                                      : ", 4096 more than there are pieces)"));
    if (size_t(*id) >= pieces.size())
      pieces.resize(*id + 1);
    // Whisper's has one, which no text is cut into.
    if (text.empty())
      continue;
    if (!pieces[*id].empty())
      // The order of a hash table must not show in the sentence, nor in texts.
      return make_error<UnsupportedTokenizer>(("'" + sys::path::filename(path) +
                                               "' gives the id " + Twine(*id) +
                                               " to two pieces")
                                                  .str());
    pieces[*id] = text.str();
  }
  return pieces;
}

PieceIds::PieceIds(ArrayRef<std::string> pieces) {
  for (auto [id, piece] : enumerate(pieces))
    if (!piece.empty())
      ids[piece] = int64_t(id);
}

std::optional<int64_t> PieceIds::find(StringRef piece) const {
  auto known = ids.find(piece);
  return known == ids.end() ? std::nullopt : std::optional(known->second);
}

Expected<int64_t> findPiece(ArrayRef<std::string> pieces, StringRef piece,
                            StringRef path) {
  auto found = llvm::find(pieces, piece);
  if (found == pieces.end())
    return makeError("'" + path + "' has no piece '" + piece + "'");
  return found - pieces.begin();
}

/// The tokens that MarianTokenizer finds in text, which may have ids of their
/// own; `pieces` are then those of the vocabulary and these.
static Expected<AddedTokenTable>
addMarianTokens(const TokenizerFiles &files, std::vector<std::string> &pieces) {
  if (Error error = checkTokenizerConfig(files, /*isSlow=*/true))
    return std::move(error);
  PieceIds ids(pieces);
  auto find = [&](StringRef piece) { return ids.find(piece); };
  std::vector<SpecialToken> special;
  for (auto [field, text] : {std::pair("bos_token", ""),
                             {"eos_token", "</s>"},
                             {"unk_token", "<unk>"},
                             {"sep_token", ""},
                             {"pad_token", "<pad>"},
                             {"cls_token", ""},
                             {"mask_token", ""}}) {
    std::optional<SpecialToken> token = files.find(field, {text, {}});
    bool isKnown = token && (files.special.count(field) || find(text));
    if (isKnown && !token->content.empty())
      appendSpecial(*token, special);
  }
  appendOthers(files, special);
  return addTokensToPieces(files, special, int64_t(ids.size()), pieces);
}

Expected<ImportedTokenizer> readNumberedTokenizer(StringRef source,
                                                  StringRef target,
                                                  const json::Object &ids,
                                                  const VocabularyFile &numbers,
                                                  const TokenizerFiles *files) {
  Expected<SentencePieceModel> sourceModel = readSentencePieceModel(source);
  if (!sourceModel)
    return sourceModel.takeError();
  Expected<SentencePieceModel> targetModel = readSentencePieceModel(target);
  if (!targetModel)
    return targetModel.takeError();
  auto pieces = numberPieces(ids, numbers.path, numbers.size);
  if (!pieces)
    return pieces.takeError();
  auto nameOf = [&](StringRef field, StringRef byDefault) {
    SpecialToken token{byDefault.str(), std::nullopt};
    return files ? files->find(field, token).value_or(token).content
                 : token.content;
  };
  Expected<int64_t> eos =
      findPiece(*pieces, nameOf("eos_token", "</s>"), numbers.path);
  if (!eos)
    return eos.takeError();
  Expected<int64_t> unknown =
      findPiece(*pieces, nameOf("unk_token", "<unk>"), numbers.path);
  if (!unknown)
    return unknown.takeError();

  ImportedTokenizer tokenizer;
  tokenizer.targetEos = *eos;
  tokenizer.targetUnknown = *unknown;
  for (const auto &[id, piece] : enumerate(*pieces))
    if (isControl(piece))
      tokenizer.targetControls.push_back(int32_t(id));
  json::Array special{*eos, *unknown};
  if (auto pad = llvm::find(*pieces, "<pad>"); pad != pieces->end())
    special.push_back(int64_t(pad - pieces->begin()));
  tokenizer.manifest = json::Object{{"kind", "sentencepiece"},
                                    {"eos", *eos},
                                    {"unknown", *unknown},
                                    {"special", std::move(special)}};
  StageList stages;
  if (files) {
    Expected<AddedTokenTable> added = addMarianTokens(*files, *pieces);
    if (!added)
      return added.takeError();
    tokenizer.manifest["special"] = idsOfSpecial(*added);
    if (files->isTrue("clean_up_tokenization_spaces"))
      tokenizer.manifest["clean_up"] = 1;
    if (!added->entries.empty())
      stages.add(format::kFindTokensSlowly, StageList::kBothSides,
                 buildAddedTokens(*added));
  }
  PieceNumbers numbered{*pieces, *unknown};
  stages.add(format::kVocabulary, StageList::kBothSides,
             buildVocabulary(*pieces));
  stages.addHeader(format::kFindLanguageCode, StageList::kBothSides,
                   format::CodesHeader{uint32_t(*unknown), 0});
  for (auto [model, uses] : {std::pair(&*sourceModel, format::kUsedForSource),
                             {&*targetModel, format::kUsedForTarget}}) {
    addSentencePieceCutter(*model, uses, stages);
    addPieceNumbers(*model, numbered, uses, stages);
  }
  addSentencePieceJoiner(*targetModel, &numbered, stages);
  TemplateTable::around(std::nullopt, *eos).addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

Expected<ImportedTokenizer> readMarianMtTokenizer(const TokenizerFiles &files,
                                                  int64_t vocabulary) {
  Expected<bool> isThere =
      files.hasAll({"source.spm", "target.spm", "vocab.json"});
  if (!isThere)
    return isThere.takeError();
  if (!*isThere)
    return ImportedTokenizer();
  std::string numbers = files.path("vocab.json");
  Expected<json::Object> ids = readJsonFile(numbers);
  if (!ids)
    return ids.takeError();
  return readNumberedTokenizer(files.path("source.spm"),
                               files.path("target.spm"), *ids,
                               {numbers, vocabulary}, &files);
}

/// The characters of a table; those of JSON are well-formed.
static SmallVector<StringRef> splitCharacters(StringRef table) {
  SmallVector<StringRef> characters;
  while (!table.empty()) {
    size_t size = getNumBytesForUTF8(UTF8(table.front()));
    characters.push_back(table.take_front(size));
    table = table.drop_front(characters.back().size());
  }
  return characters;
}

/// Refuses a table with more characters than the vocabulary has ids.
static Error checkTable(StringRef name, StringRef table, int64_t vocabulary) {
  auto count = int64_t(splitCharacters(table).size());
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
  tokenizer.manifest =
      json::Object{{"kind", "characters"}, {"unknown", unknown}};
  StageList stages;
  stages.addHeader(format::kCutCharacters, format::kUsedForSource,
                   format::CharactersHeader{unknown, 0}, source);
  stages.addHeader(format::kCutCharacters, format::kUsedForTarget,
                   format::CharactersHeader{unknown, 0}, target);
  // The character at the unknown id is a filler, and special ids are no text.
  SmallVector<StringRef> texts = splitCharacters(target);
  if (size_t(unknown) < texts.size())
    std::replace(texts.begin(), texts.end(), StringRef(texts[unknown]),
                 StringRef());
  for (auto [key, id] : {std::pair("bos", bos), {"eos", eos}}) {
    if (!id)
      continue;
    tokenizer.manifest[key] = *id;
    if (size_t(*id) < texts.size())
      texts[*id] = "";
  }
  SmallVector<uint16_t> joinings(texts.size(), format::kJoinsAsText);
  stages.add(format::kTexts, format::kUsedToJoin, buildTexts(texts, joinings));
  stages.add(format::kJoinBytes, format::kUsedToJoin);
  TemplateTable::around(bos, eos).addTo(stages);
  tokenizer.setStages(stages);
  return tokenizer;
}

} // namespace heddle
