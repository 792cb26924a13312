//===- CutWordPieces.cpp - WordPiece, as BERT has it ----------------------===//
//
// From the start of a word on its longest piece, then from there on: each is
// found by one walk through a trie.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"
#include "runtime/tokenizer/stages/ZeroKeys.h"

#include <algorithm>

using namespace heddle;

namespace {
class CutWordPieces final : public PieceModel {
public:
  CutWordPieces(const format::WordPiecesHeader &header, DoubleArray starts,
                DoubleArray rests)
      : header(header), starts(starts), rests(rests) {}

  void cut(std::string_view word, std::vector<Piece> &pieces) const override {
    size_t first = pieces.size();
    if (word.size() > header.maxCharacters && hasTooMany(word))
      return pieces.push_back(unknown(word));
    if (cutKnown(word, pieces))
      return;
    if (stages::hasZero(word))
      if (std::string spelled = stages::spellZeros(word);
          cutKnown(spelled, pieces))
        return stages::restorePlaces(spelled, first, pieces);
    pieces.push_back(unknown(word));
  }

private:
  /// Adds nothing and returns false if the word is unknown.
  bool cutKnown(std::string_view word, std::vector<Piece> &pieces) const {
    size_t first = pieces.size();
    const DoubleArray *next = &starts;
    for (size_t at = 0; at < word.size(); next = &rests) {
      DoubleArray::Match match = next->longestPrefix(word.substr(at));
      if (!match.length) {
        pieces.resize(first);
        return false;
      }
      pieces.push_back(
          {match.value, {uint32_t(at), uint32_t(at + match.length)}});
      at += match.length;
    }
    return true;
  }
  bool hasTooMany(std::string_view word) const {
    auto count = std::count_if(word.begin(), word.end(),
                               [](char byte) { return (byte & 0xC0) != 0x80; });
    return size_t(count) > header.maxCharacters;
  }
  Piece unknown(std::string_view word) const {
    return {int32_t(header.unknown), {0, uint32_t(word.size())}};
  }

  const format::WordPiecesHeader &header;
  DoubleArray starts, rests;
};
} // namespace

stages::MadeModel stages::makeCutWordPieces(std::string_view table) {
  TableReader reader(table);
  const format::WordPiecesHeader *header = nullptr;
  const uint32_t *starts = nullptr, *rests = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    reader.take(starts, header->startUnits);
    reader.take(rests, header->restUnits);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() ||
      header->unknown > format::kPieceIdMask)
    return Status::error("is not a whole table of word pieces");
  return std::unique_ptr<PieceModel>(std::make_unique<CutWordPieces>(
      *header, DoubleArray(starts, header->startUnits),
      DoubleArray(rests, header->restUnits)));
}
