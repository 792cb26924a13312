//===- UnigramPieces.cpp - Pieces of the highest sum of scores ------------===//
//
// A Viterbi search. For each position it keeps the best segmentation of the
// text before it. At each start of a character, every matching piece extends
// it. Sums are rounded where SentencePiece rounds them: a path is kept in
// single precision, a candidate is compared in double. The library tokenizers
// keeps doubles. Of equal paths the first one stays: its last piece begins
// first.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/CutByScores.h"

#include <algorithm>

using namespace heddle;
using namespace heddle::stages;

namespace {
/// The best way to a place: its sum and its last piece. A length of 0 means
/// that there is none.
template <typename Sum> struct Way {
  Sum sum;
  int32_t id;
  uint32_t length;
};
} // namespace

template <typename Sum>
void CutByScores::sumScores(std::string_view text,
                            std::vector<Piece> &pieces) const {
  std::vector<Way<Sum>> ways(text.size() + 1);
  auto offer = [&](size_t place, double sum, int32_t id, size_t length) {
    Way<Sum> &way = ways[place];
    if (way.length == 0 || sum > way.sum)
      way = {static_cast<Sum>(sum), id, uint32_t(length)};
  };
  const uint32_t pieceCount = header->pieceCount;
  for (size_t begin = 0; begin < text.size();) {
    const Sum sum = ways[begin].sum;
    const size_t character =
        std::min(characterLength(static_cast<unsigned char>(text[begin])),
                 text.size() - begin);
    bool isKnown = false;
    uint32_t node = DoubleArray::kRoot;
    for (size_t end = begin; end < text.size() && trie.step(node, text[end]);) {
      ++end;
      int32_t value = trie.value(node);
      uint32_t id = uint32_t(value) & format::kPieceIdMask;
      if (value < 0 || id >= pieceCount)
        continue;
      size_t length = end - begin;
      double score = scoreOf(id);
      if (value & format::kPieceIsUserDefined)
        score = static_cast<float>(length) * header->largestScore - 0.1;
      offer(end, score + sum, int32_t(id), length);
      isKnown |= length == character;
    }
    if (!isKnown)
      offer(begin + character, Sum(unknownScore) + sum, unknown(), character);
    begin += character;
  }

  auto first = std::ptrdiff_t(pieces.size());
  for (size_t end = text.size(); end > 0; end -= ways[end].length)
    pieces.push_back(
        {ways[end].id, {uint32_t(end) - ways[end].length, uint32_t(end)}});
  std::reverse(pieces.begin() + first, pieces.end());
}

template void CutByScores::sumScores<float>(std::string_view,
                                            std::vector<Piece> &) const;
template void CutByScores::sumScores<double>(std::string_view,
                                             std::vector<Piece> &) const;
