//===- MergedPieces.cpp - Pieces that characters merge to -----------------===//
//
// As in CutBytePairs.cpp the pieces are a doubly linked list in an array, and a
// heap holds the pairs that may merge. What may merge is said by the pieces
// themselves: two neighbours do if both together are a piece. Each keeps its
// node of the trie, so that a pair is looked up by the bytes of the right one.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/CutByScores.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

using namespace heddle;
using namespace heddle::stages;

namespace {

/// No piece begins with the text of this symbol.
constexpr uint32_t kNoNode = ~uint32_t(0);

/// A piece in the making; empty when it has been merged into its left
/// neighbour. Negative places are the ends.
struct Symbol {
  size_t begin, end;
  int64_t previous, next;
  uint32_t node;
  /// What the user defined merges with nothing.
  bool isFixed;

  size_t size() const { return end - begin; }
};

/// Neighbours that may merge; out of date when they have another size.
struct Candidate {
  float score;
  int64_t left, right;
  size_t size;
  uint32_t node;

  /// The largest of a heap is the one to take first.
  bool operator<(const Candidate &other) const {
    return std::tie(score, other.left) < std::tie(other.score, left);
  }
};

} // namespace

void CutByScores::merge(std::string_view text,
                        std::vector<Piece> &pieces) const {
  auto bytesOf = [&](const Symbol &symbol) {
    return text.substr(symbol.begin, symbol.size());
  };
  auto nodeOf = [&](std::string_view piece) {
    uint32_t node = DoubleArray::kRoot;
    return trie.walk(node, piece) ? node : kNoNode;
  };
  // The value of the piece that ends at a node, or -1.
  auto pieceAt = [&](uint32_t node) {
    int32_t value = node == kNoNode ? -1 : trie.value(node);
    return value >= 0 &&
                   (uint32_t(value) & format::kPieceIdMask) < header->pieceCount
               ? value
               : -1;
  };

  std::vector<Symbol> symbols;
  symbols.reserve(text.size());
  for (size_t begin = 0; begin < text.size();) {
    size_t fixed = this->symbols.longestPrefix(text.substr(begin)).length;
    size_t length =
        fixed ? fixed
              : characterLength(static_cast<unsigned char>(text[begin]));
    size_t end = std::min(begin + length, text.size());
    int64_t index = int64_t(symbols.size());
    symbols.push_back({begin, end, index - 1, index + 1,
                       nodeOf(text.substr(begin, end - begin)), fixed != 0});
    begin = end;
  }
  symbols.back().next = -1;

  // How many bytes the left part of an unused piece has: as the pair that was
  // last found to be it, wherever in the text.
  std::unordered_map<int32_t, size_t> leftParts;
  std::priority_queue<Candidate> candidates;
  auto consider = [&](int64_t leftPlace, int64_t rightPlace) {
    if (leftPlace < 0 || rightPlace < 0)
      return;
    const Symbol &left = symbols[leftPlace], &right = symbols[rightPlace];
    uint32_t node = left.node;
    if (left.isFixed || right.isFixed || node == kNoNode ||
        !trie.walk(node, bytesOf(right)))
      return;
    int32_t value = pieceAt(node);
    if (value < 0)
      return;
    int32_t id = value & format::kPieceIdMask;
    candidates.push(
        {scores[id], leftPlace, rightPlace, left.size() + right.size(), node});
    if (value & format::kPieceIsUnused)
      leftParts[id] = left.size();
  };
  for (int64_t place = 1; place < int64_t(symbols.size()); ++place)
    consider(place - 1, place);
  while (!candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    Symbol &left = symbols[best.left], &right = symbols[best.right];
    if (left.size() == 0 || right.size() == 0 ||
        left.size() + right.size() != best.size)
      continue;
    left.end = right.end;
    left.node = best.node;
    left.next = right.next;
    if (right.next >= 0)
      symbols[right.next].previous = best.left;
    right.end = right.begin;
    consider(left.previous, best.left);
    consider(best.left, left.next);
  }

  // Pieces that are only on the way to others fall apart again.
  std::vector<Symbol> parts;
  for (int64_t place = 0; place >= 0; place = symbols[place].next) {
    parts.push_back(symbols[place]);
    while (!parts.empty()) {
      Symbol part = parts.back();
      parts.pop_back();
      int32_t value = pieceAt(part.node);
      int32_t id =
          value < 0 ? unknown() : int32_t(value & format::kPieceIdMask);
      auto leftPart = value >= 0 && (value & format::kPieceIsUnused)
                          ? leftParts.find(id)
                          : leftParts.end();
      if (leftPart == leftParts.end() || leftPart->second >= part.size()) {
        pieces.push_back({id, {uint32_t(part.begin), uint32_t(part.end)}});
        continue;
      }
      Symbol left = part, right = part;
      left.end = right.begin = part.begin + leftPart->second;
      left.node = nodeOf(bytesOf(left));
      right.node = nodeOf(bytesOf(right));
      parts.push_back(right);
      parts.push_back(left);
    }
  }
}
