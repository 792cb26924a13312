//===- CutBytePairs.cpp - Byte pair encoding of words ---------------------===//
//
// A word starts as one piece a byte. Some models take a word that is a piece
// before they merge anything.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/DoubleArray.h"
#include "runtime/tokenizer/stages/PairMerges.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::stages;

namespace {
class CutBytePairs final : public PieceModel {
public:
  static Result<CutBytePairs> parse(std::string_view table);

  void cut(std::string_view word, std::vector<Piece> &pieces) const override;

private:
  bool isWhole() const;

  const format::PairsHeader *header = nullptr;
  PairMerges merges;
  DoubleArray words;
};
} // namespace

Result<CutBytePairs> CutBytePairs::parse(std::string_view table) {
  CutBytePairs pairs;
  TableReader reader(table);
  const uint32_t *units = nullptr;
  reader.take(pairs.header, 1);
  if (reader.isWhole()) {
    pairs.merges.take(reader, pairs.header->pieceCount,
                      pairs.header->mergeCount);
    reader.take(units, pairs.header->wordUnits);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() || !pairs.isWhole())
    return Status::error("is not a whole table of byte pairs");
  pairs.words = DoubleArray(units, pairs.header->wordUnits);
  return pairs;
}

bool CutBytePairs::isWhole() const {
  auto isPieceOrNone = [&](int32_t id) {
    return id == -1 || uint32_t(id) < header->pieceCount;
  };
  return header->unknown >= -1 && merges.areWhole() &&
         std::all_of(std::begin(header->byteIds), std::end(header->byteIds),
                     isPieceOrNone);
}

void CutBytePairs::cut(std::string_view word,
                       std::vector<Piece> &pieces) const {
  if (words.hasKeys())
    if (int32_t id = words.find(word); id >= 0)
      return pieces.push_back({id, {0, uint32_t(word.size())}});
  std::vector<PairMerges::Symbol> symbols;
  symbols.reserve(word.size());
  for (unsigned char byte : word)
    PairMerges::add(header->byteIds[byte], 1, symbols);
  merges.merge(symbols);
  uint32_t begin = 0;
  for (int32_t at = 0; at >= 0; at = symbols[at].next) {
    uint32_t end = begin + symbols[at].length;
    int32_t id = symbols[at].id < 0 ? header->unknown : symbols[at].id;
    if (id >= 0)
      pieces.push_back({id, {begin, end}});
    begin = end;
  }
}

MadeModel stages::makeCutBytePairs(std::string_view table) {
  return own<PieceModel>(CutBytePairs::parse(table));
}
