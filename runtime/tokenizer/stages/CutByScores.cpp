//===- CutByScores.cpp - Tables, and characters that are unknown ----------===//
//
// After either algorithm, adjacent unknown pieces are fused or fall back to
// bytes, as in SentencePieceProcessor.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/CutByScores.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/stages/ZeroKeys.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::stages;

Result<CutByScores> CutByScores::parse(std::string_view table) {
  CutByScores model;
  TableReader reader(table);
  const uint32_t *units = nullptr, *symbolUnits = nullptr;
  reader.take(model.header, 1);
  if (reader.isWhole()) {
    reader.take(units, model.header->pieceUnits);
    reader.take(symbolUnits, model.header->symbolUnits);
    if (model.isOfDoubles())
      reader.take(model.doubles, model.header->pieceCount);
    else
      reader.take(model.scores, model.header->pieceCount);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() || !model.isWhole())
    return Status::error("is not a whole table of pieces with scores");
  model.trie = DoubleArray(units, model.header->pieceUnits);
  model.symbols = DoubleArray(symbolUnits, model.header->symbolUnits);
  constexpr double penalty = 10;
  model.unknownScore = model.header->unknownScore;
  if (uint32_t count = model.doubles ? model.header->pieceCount : 0)
    model.unknownScore =
        *std::min_element(model.doubles, model.doubles + count) - penalty;
  return model;
}

bool CutByScores::isWhole() const {
  auto isPiece = [&](int32_t id) {
    return id >= 0 && uint32_t(id) < header->pieceCount;
  };
  bool hasBytes = header->flags & format::kFallsBackToBytes;
  return header->kind >= format::kUnigram &&
         header->kind <= format::kUnigramOfDoubles &&
         !(isOfDoubles() &&
           (header->pieceUnits % 2 || header->symbolUnits % 2)) &&
         header->pieceCount <= format::kPieceIdMask &&
         header->unknown < header->pieceCount &&
         std::all_of(
             std::begin(header->byteIds), std::end(header->byteIds),
             [&](int32_t id) {
               bool mayMiss = !hasBytes || isOfDoubles();
               return (hasBytes && isPiece(id)) || (mayMiss && id == -1);
             });
}

static std::string_view textOf(std::string_view text, const Piece &piece) {
  return text.substr(piece.range.begin, piece.range.end - piece.range.begin);
}

void CutByScores::spellUnknown(std::string_view text, size_t first,
                               std::vector<Piece> &pieces) const {
  std::vector<Piece> known;
  auto idOf = [&](char byte) {
    return header->byteIds[static_cast<unsigned char>(byte)];
  };
  for (size_t i = first; i < pieces.size(); ++i) {
    std::string_view bytes = textOf(text, pieces[i]);
    if (pieces[i].id != unknown() ||
        std::any_of(bytes.begin(), bytes.end(),
                    [&](char byte) { return idOf(byte) < 0; }))
      known.push_back(pieces[i]);
    else
      for (char byte : bytes)
        known.push_back({idOf(byte), pieces[i].range});
  }
  pieces.resize(first);
  pieces.insert(pieces.end(), known.begin(), known.end());
}

void CutByScores::fuseUnknown(std::string_view text, size_t first,
                              std::vector<Piece> &pieces) const {
  size_t kept = first;
  for (size_t i = first + 1; i < pieces.size(); ++i)
    if (pieces[kept].id == unknown() && pieces[i].id == unknown())
      pieces[kept].range.end = pieces[i].range.end;
    else
      pieces[++kept] = pieces[i];
  pieces.resize(kept + 1);
  if (!isOfDoubles())
    return;
  for (size_t i = first; i < pieces.size(); ++i)
    if (pieces[i].id == unknown())
      if (int32_t id = trie.find(textOf(text, pieces[i]));
          id >= 0 && uint32_t(id) < header->pieceCount)
        pieces[i].id = id;
}

void CutByScores::cutAsLibrary(std::string_view text,
                               std::vector<Piece> &pieces) const {
  size_t first = pieces.size();
  sumScores<double>(text, pieces);
  fuseUnknown(text, first, pieces);
}

void CutByScores::cut(std::string_view text, std::vector<Piece> &pieces) const {
  size_t first = pieces.size();
  bool spells = header->flags & format::kFallsBackToBytes;
  if (isOfDoubles() && hasZero(text)) {
    std::string spelled = spellZeros(text);
    cutAsLibrary(spelled, pieces);
    restorePlaces(spelled, first, pieces);
  } else if (isOfDoubles()) {
    cutAsLibrary(text, pieces);
  } else {
    if (header->kind == format::kUnigram)
      sumScores<float>(text, pieces);
    else
      merge(text, pieces);
    if (!spells)
      fuseUnknown(text, first, pieces);
  }
  // The library tokenizers has bytes of what is still unknown.
  if (spells)
    spellUnknown(text, first, pieces);
}

MadeModel stages::makeCutByScores(std::string_view table) {
  return own<PieceModel>(CutByScores::parse(table));
}
