//===- PairMerges.cpp - Pieces that merge pair by pair --------------------===//
//
// The pieces of a word are a doubly linked list in an array; a heap holds the
// pairs that may merge. A pair is out of date if one of its two is no longer
// what it was.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/PairMerges.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace heddle;
using namespace heddle::stages;

namespace {
/// Two neighbours that may merge, the first at `position`.
struct Candidate {
  uint32_t rank;
  int32_t position, left, right, result;

  /// The largest of a heap is the one to take first.
  bool operator<(const Candidate &other) const {
    return std::tie(rank, position) > std::tie(other.rank, other.position);
  }
};
} // namespace

void PairMerges::take(TableReader &reader, uint32_t pieces, uint32_t merged) {
  pieceCount = pieces;
  mergeCount = merged;
  reader.take(mergeBegins, uint64_t(pieces) + 1);
  reader.take(merges, merged);
}

bool PairMerges::areWhole() const {
  auto isPiece = [&](uint32_t id) { return id < pieceCount; };
  return pieceCount <= format::kPieceIdMask && mergeBegins[0] == 0 &&
         std::is_sorted(mergeBegins, mergeBegins + pieceCount + 1) &&
         mergeBegins[pieceCount] == mergeCount &&
         std::all_of(merges, merges + mergeCount,
                     [&](const format::PairMerge &merge) {
                       return isPiece(merge.right) && isPiece(merge.result);
                     });
}

const format::PairMerge *PairMerges::find(int32_t left, int32_t right) const {
  if (left < 0 || right < 0 || uint32_t(left) >= pieceCount)
    return nullptr;
  const format::PairMerge *end = merges + mergeBegins[left + 1];
  const format::PairMerge *found =
      std::lower_bound(merges + mergeBegins[left], end, uint32_t(right),
                       [](const format::PairMerge &merge, uint32_t wanted) {
                         return merge.right < wanted;
                       });
  return found != end && found->right == uint32_t(right) ? found : nullptr;
}

void PairMerges::add(int32_t id, uint32_t length,
                     std::vector<Symbol> &symbols) {
  int32_t index = int32_t(symbols.size());
  if (index > 0)
    symbols.back().next = index;
  symbols.push_back({id, length, index - 1, -1});
}

void PairMerges::merge(std::vector<Symbol> &symbols) const {
  std::priority_queue<Candidate> candidates;
  auto consider = [&](int32_t position) {
    if (position < 0 || symbols[position].next < 0)
      return;
    int32_t left = symbols[position].id,
            right = symbols[symbols[position].next].id;
    if (const format::PairMerge *merge = find(left, right))
      candidates.push(
          {merge->rank, position, left, right, int32_t(merge->result)});
  };
  for (int32_t position = 0; position < int32_t(symbols.size()); ++position)
    consider(position);

  // What has been merged into its left neighbour.
  constexpr int32_t gone = -2;
  while (!candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    Symbol &symbol = symbols[best.position];
    if (symbol.id != best.left || symbol.next < 0 ||
        symbols[symbol.next].id != best.right)
      continue;
    Symbol &right = symbols[symbol.next];
    symbol.id = best.result;
    symbol.length += right.length;
    symbol.next = right.next;
    right.id = gone;
    if (symbol.next >= 0)
      symbols[symbol.next].previous = best.position;
    consider(symbol.previous);
    consider(best.position);
  }
}
