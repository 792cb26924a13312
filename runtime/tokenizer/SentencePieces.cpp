//===- SentencePieces.cpp - Sections, unknown characters, joining ---------===//
//
// Around the two ways of cutting is what SentencePieceProcessor does: fusing
// what is unknown, or taking it to bytes, and making text of pieces.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/SentencePieces.h"
#include "runtime/artifact/TableReader.h"

#include <algorithm>

using namespace heddle;

bool PieceTexts::areWhole() const {
  return begins[0] == 0 && std::is_sorted(begins, begins + count + 1) &&
         begins[count] == bytes.size();
}

/// The arrays of texts, whose bytes follow elsewhere.
static void takeTexts(TableReader &reader, uint32_t count, PieceTexts &texts) {
  texts.count = count;
  reader.take(texts.begins, uint64_t(count) + 1);
  reader.take(texts.joinings, count);
}

Result<SentencePieces> SentencePieces::parse(std::string_view bytes,
                                             std::string_view name) {
  SentencePieces pieces;
  TableReader reader(bytes);
  reader.take(pieces.header, 1);
  if (!reader.isWhole())
    return Status::error("section '", name, "' has ", bytes.size(),
                         " bytes, too few for a table of pieces");
  const format::PiecesHeader &header = *pieces.header;
  const uint32_t *units = nullptr, *symbolUnits = nullptr, *rules = nullptr,
                 *backRules = nullptr;
  reader.take(units, header.pieceUnits);
  reader.take(symbolUnits, header.symbolUnits);
  reader.take(rules, header.normalizer.unitCount);
  reader.take(backRules, header.denormalizer.unitCount);
  reader.take(pieces.scores, header.pieceCount);
  takeTexts(reader, header.pieceCount, pieces.pieceTexts);
  std::string_view replacements =
                       reader.takeBytes(header.normalizer.replacementBytes),
                   backReplacements =
                       reader.takeBytes(header.denormalizer.replacementBytes);
  pieces.unknownText = reader.takeBytes(header.unknownBytes);
  pieces.pieceTexts.bytes = reader.takeRest();
  auto endsWithZero = [](std::string_view texts) {
    return texts.empty() || texts.back() == '\0';
  };
  if (!reader.isWhole() || !endsWithZero(replacements) ||
      !endsWithZero(backReplacements) || !pieces.isWhole())
    return Status::error("section '", name, "' is not a whole table of its ",
                         header.pieceCount, " pieces");
  pieces.trie = DoubleArray(units, header.pieceUnits);
  pieces.symbols = DoubleArray(symbolUnits, header.symbolUnits);
  pieces.normalizer = TextNormalizer(
      header.normalizer.flags, DoubleArray(rules, header.normalizer.unitCount),
      replacements, pieces.symbols);
  pieces.denormalizer =
      TextNormalizer(header.denormalizer.flags,
                     DoubleArray(backRules, header.denormalizer.unitCount),
                     backReplacements, DoubleArray());
  return pieces;
}

bool SentencePieces::isWhole() const {
  auto isPiece = [&](int32_t id) {
    return id >= 0 && uint32_t(id) < header->pieceCount;
  };
  bool hasBytes = header->flags & format::kFallsBackToBytes;
  return header->kind >= format::kUnigram &&
         header->kind <= format::kConvertedMerges &&
         header->pieceCount <= format::kPieceIdMask &&
         header->unknown < header->pieceCount &&
         std::all_of(
             std::begin(header->byteIds), std::end(header->byteIds),
             [&](int32_t id) { return hasBytes ? isPiece(id) : id == -1; }) &&
         pieceTexts.areWhole();
}

CutText SentencePieces::cut(std::string_view text) const {
  return cutNormalized(normalizer.normalize(text));
}

bool SentencePieces::isFused(const CutText &cut, const CutText::Piece &piece,
                             const CutText::Piece &next) const {
  return piece.id == unknown() && next.id == unknown() &&
         !(isConverted() && startsWithMark(cut.normalized, next.begin));
}

CutText SentencePieces::cutNormalized(std::string normalized) const {
  CutText result{std::move(normalized), {}};
  if (result.normalized.empty())
    return result;
  if (header->kind == format::kUnigram)
    cutByScores<float>(result);
  else if (header->kind == format::kConvertedUnigram)
    cutByScores<double>(result);
  else
    cutByMerges(result);

  std::vector<CutText::Piece> &pieces = result.pieces;
  if (header->flags & format::kFallsBackToBytes) {
    std::vector<CutText::Piece> known;
    for (const CutText::Piece &piece : pieces)
      if (piece.id != unknown())
        known.push_back(piece);
      else
        for (unsigned char byte : result.textOf(piece))
          known.push_back({header->byteIds[byte], piece.begin, piece.end});
    pieces = std::move(known);
    return result;
  }
  auto kept = pieces.begin();
  for (auto piece = std::next(kept); piece != pieces.end(); ++piece)
    if (isFused(result, *kept, *piece))
      kept->end = piece->end;
    else
      *++kept = *piece;
  pieces.erase(std::next(kept), pieces.end());
  if (header->kind == format::kConvertedUnigram)
    for (CutText::Piece &piece : pieces)
      if (piece.id == unknown())
        if (int32_t id = trie.find(result.textOf(piece));
            id >= 0 && uint32_t(id) < header->pieceCount)
          piece.id = id;
  return result;
}

static void appendWithSpaces(std::string &text, std::string_view piece) {
  for (size_t at; (at = piece.find(kSpaceMark)) != std::string_view::npos;) {
    text.append(piece, 0, at).append(" ");
    piece.remove_prefix(at + kSpaceMark.size());
  }
  text += piece;
}

std::string SentencePieces::join(const std::vector<int32_t> &ids,
                                 const PieceTexts &vocabulary) const {
  const uint32_t flags = header->normalizer.flags;
  const bool removesSpaces = flags & format::kRemovesSpaces,
             dropsFirstMark =
                 flags & (format::kAddsSpace | format::kRemovesSpaces);
  std::string text, bytes;
  auto takeBytes = [&] {
    for (std::string_view rest = bytes; !rest.empty();)
      text += takeCharacter(rest);
    bytes.clear();
  };
  // Whether a mark in front of the next piece is the one that cutting added:
  // of several that begin the text one is, unless they are all removed.
  bool isFirst = true, droppedMark = false;
  for (int32_t id : ids) {
    uint16_t joining = vocabulary.joinings[id];
    if (joining >= format::kJoinsAsByte) {
      bytes += char(joining & 0xFF);
      continue;
    }
    takeBytes();
    isFirst &= !droppedMark && text.empty();
    droppedMark = false;
    std::string_view piece = vocabulary.text(id);
    if (joining == format::kJoinsAsNothing)
      continue;
    if (joining == format::kJoinsAsUnknown) {
      text += unknownText;
    } else if (joining == format::kJoinsAsIs) {
      text += piece;
    } else {
      if (isFirst && dropsFirstMark &&
          piece.substr(0, kSpaceMark.size()) == kSpaceMark) {
        piece.remove_prefix(kSpaceMark.size());
        droppedMark = !removesSpaces;
      }
      appendWithSpaces(text, piece);
    }
  }
  takeBytes();
  return header->flags & format::kDenormalizes ? denormalizer.normalize(text)
                                               : text;
}

Result<PieceNumbers> PieceNumbers::parse(std::string_view bytes,
                                         const SentencePieces &source,
                                         const SentencePieces &target) {
  PieceNumbers numbers;
  TableReader reader(bytes);
  const format::VocabularyHeader *header = nullptr;
  const uint32_t *units = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    reader.take(units, header->pieceUnits);
    reader.take(numbers.source, header->sourceCount);
    reader.take(numbers.target, header->targetCount);
    takeTexts(reader, header->pieceCount, numbers.pieceTexts);
    numbers.pieceTexts.bytes = reader.takeRest();
  }
  if (!reader.isWhole() || header->pieceCount > format::kPieceIdMask ||
      !numbers.pieceTexts.areWhole())
    return Status::error("section 'tokenizer.vocabulary' is not a whole table "
                         "of pieces");
  auto checkIds = [&](const int32_t *ids, uint32_t count,
                      const SentencePieces &model) {
    return count == uint32_t(model.pieceCount()) &&
           std::all_of(ids, ids + count, [&](int32_t id) {
             return id >= -1 && id < int32_t(header->pieceCount);
           });
  };
  if (!checkIds(numbers.source, header->sourceCount, source) ||
      !checkIds(numbers.target, header->targetCount, target))
    return Status::error("section 'tokenizer.vocabulary' does not number the "
                         "pieces of its models");
  numbers.trie = DoubleArray(units, header->pieceUnits);
  return numbers;
}

int32_t PieceNumbers::find(std::string_view piece) const {
  int32_t id = trie.find(piece);
  return id < int32_t(pieceTexts.count) ? id : -1;
}
