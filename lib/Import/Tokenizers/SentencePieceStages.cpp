//===- SentencePieceStages.cpp - Writes pieces for the runtime ------------===//
//
// Joining goes by the text of a piece, as in SentencePieceProcessor::Decode:
// what a text is in joined text, the model's piece of that text says.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/SentencePieceStages.h"
#include "lib/Import/Tokenizers/DoubleArrayBuilder.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <cfloat>

using namespace llvm;

namespace heddle {

using Type = SentencePiece::Type;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::string ScoredPieces::build() {
  std::vector<uint32_t> trie = buildDoubleArray(std::move(pieces)),
                        symbolTrie = buildDoubleArray(std::move(symbols));
  header.pieceCount = uint32_t(scores.size());
  header.pieceUnits = uint32_t(trie.size());
  header.symbolUnits = uint32_t(symbolTrie.size());
  std::string table;
  appendValues(table, ArrayRef(header));
  appendValues(table, ArrayRef(trie));
  appendValues(table, ArrayRef(symbolTrie));
  appendValues(table, ArrayRef(scores));
  return table;
}

std::string buildRules(const SentencePieceNormalizer &normalizer,
                       uint32_t moreFlags, ArrayRef<StringRef> symbols) {
  std::vector<std::pair<StringRef, uint32_t>> keys;
  for (auto [id, symbol] : enumerate(symbols))
    keys.push_back({symbol, uint32_t(id)});
  std::vector<uint32_t> trie = buildDoubleArray(std::move(keys));
  format::RulesHeader header = {};
  header.flags = moreFlags |
                 (normalizer.addsDummyPrefix ? format::kAddsSpace : 0) |
                 (normalizer.removesExtraSpaces ? format::kRemovesSpaces : 0) |
                 (normalizer.escapesSpaces ? format::kMarksSpaces : 0);
  header.unitCount = uint32_t(normalizer.rules.size() / sizeof(uint32_t));
  header.symbolUnits = uint32_t(trie.size());
  header.replacementBytes = uint32_t(normalizer.replacements.size());
  std::string table;
  appendValues(table, ArrayRef(header));
  table += normalizer.rules;
  appendValues(table, ArrayRef(trie));
  return table + normalizer.replacements;
}

/// What a text is in joined text.
static uint16_t joiningOf(StringRef text, const SentencePieceModel &model) {
  auto found = model.ids.find(text);
  int64_t id = found == model.ids.end() ? model.unknown : found->second;
  switch (model.pieces[id].type) {
  case Type::Control:
    return format::kJoinsAsNothing;
  case Type::Unknown:
    return model.pieces[id].text == text ? format::kJoinsAsUnknown
                                         : format::kJoinsAsIs;
  case Type::Byte:
    return uint16_t(format::kJoinsAsByte + byteOf(text));
  default:
    return format::kJoinsAsText;
  }
}

std::string buildVocabulary(ArrayRef<std::string> pieces) {
  std::vector<std::pair<StringRef, uint32_t>> keys;
  for (auto [id, piece] : enumerate(pieces))
    // A key cannot have a zero byte, and no text has such a piece.
    if (!piece.empty() && !StringRef(piece).contains('\0'))
      keys.push_back({piece, uint32_t(id)});
  std::string table;
  appendValues(table, ArrayRef(buildDoubleArray(std::move(keys))));
  return table;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void addSentencePieceCutter(const SentencePieceModel &model, uint32_t uses,
                            StageList &stages) {
  bool isUnigram = model.kind == SentencePieceModel::Kind::Unigram;
  ScoredPieces table;
  SmallVector<StringRef> symbols;
  // As in the library: its largest score begins with the least above zero.
  float least = FLT_MAX, largest = FLT_MIN;
  for (auto [id, piece] : enumerate(model.pieces)) {
    table.scores.push_back(piece.score);
    if (piece.type == Type::Normal) {
      least = std::min(least, piece.score);
      largest = std::max(largest, piece.score);
    }
    if (piece.type == Type::Byte)
      table.header.byteIds[byteOf(piece.text)] = int32_t(id);
    bool isUserDefined = piece.type == Type::UserDefined,
         isUnused = piece.type == Type::Unused;
    if (isUserDefined) {
      table.symbols.push_back({piece.text, uint32_t(id)});
      symbols.push_back(piece.text);
    }
    if (!piece.isReserved() && !(isUnigram && isUnused))
      table.pieces.push_back(
          {piece.text, uint32_t(id) | (isUnused ? format::kPieceIsUnused : 0) |
                           (isUserDefined ? format::kPieceIsUserDefined : 0)});
  }
  table.header.kind = isUnigram ? format::kUnigram : format::kMerges;
  table.header.flags = model.fallsBackToBytes ? format::kFallsBackToBytes : 0;
  table.header.unknown = uint32_t(model.unknown);
  table.header.unknownScore = least - 10.0f;
  table.header.largestScore = largest;
  uint32_t behind = model.putsSpacesBehind ? format::kAddsItBehind : 0;
  stages.add(format::kNormalizeSentencePiece, uses,
             buildRules(model.normalizer, behind, symbols));
  stages.add(format::kCutByScores, uses, table.build());
}

void addPieceNumbers(const SentencePieceModel &model,
                     const PieceNumbers &numbers, uint32_t uses,
                     StageList &stages) {
  StringMap<int32_t> known;
  for (auto [id, piece] : enumerate(numbers.pieces))
    known.try_emplace(piece, int32_t(id));
  std::vector<int32_t> ids;
  for (const SentencePiece &piece : model.pieces) {
    auto found = known.find(piece.text);
    ids.push_back(found == known.end() ? -1 : found->second);
  }
  format::NumbersHeader header = {};
  header.modelUnknown = uint32_t(model.unknown);
  header.unknown = uint32_t(numbers.unknown);
  header.pieceCount = uint32_t(ids.size());
  std::string rest;
  appendValues(rest, ArrayRef(ids));
  stages.addHeader(format::kNumberPieces, uses, header, rest);
}

void addSentencePieceJoiner(const SentencePieceModel &model,
                            const PieceNumbers *numbers, StageList &stages) {
  SmallVector<StringRef> texts;
  if (numbers)
    llvm::append_range(texts, numbers->pieces);
  else
    for (const SentencePiece &piece : model.pieces)
      texts.push_back(piece.text);
  auto joinings = map_to_vector(
      texts, [&](StringRef text) { return joiningOf(text, model); });
  stages.add(format::kTexts, format::kUsedToJoin, buildTexts(texts, joinings));
  format::JoinHeader header = {};
  header.flags =
      (model.normalizer.addsDummyPrefix ? format::kAddsSpace : 0) |
      (model.normalizer.removesExtraSpaces ? format::kRemovesSpaces : 0) |
      (model.denormalizer.rules.empty() ? 0 : format::kDenormalizes) |
      (numbers ? format::kStripsText : 0);
  header.unknownBytes = uint32_t(model.unknownSurface.size());
  stages.addHeader(format::kJoinSentencePieces, format::kUsedToJoin, header,
                   buildRules(model.denormalizer) + model.unknownSurface);
}

} // namespace heddle
