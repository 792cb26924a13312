//===- PairMerges.cpp - Pieces that merge pair by pair --------------------===//
//
// The pieces of a word are a doubly linked list in an array; a heap holds the
// pairs that may merge. A pair is out of date if one of its two is no longer
// what it was. Most words are short: their pairs stand in an array, which is
// searched for the first one of the least rank again and again.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/PairMerges.h"

#include <algorithm>
#include <array>
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

/// Symbols up to which the search of all pairs is faster than a heap.
static constexpr size_t kFew = 24;

void PairMerges::mergeFew(std::vector<Symbol> &symbols) const {
  constexpr uint32_t none = ~uint32_t(0);
  // Of the pair that begins at a symbol.
  std::array<uint32_t, kFew> ranks;
  std::array<int32_t, kFew> results;
  size_t count = symbols.size();
  auto consider = [&](size_t at) {
    const format::PairMerge *merge =
        at + 1 < count ? find(symbols[at].id, symbols[at + 1].id) : nullptr;
    ranks[at] = merge ? merge->rank : none;
    results[at] = merge ? int32_t(merge->result) : -1;
  };
  for (size_t at = 0; at < count; ++at)
    consider(at);
  while (true) {
    size_t best = size_t(
        std::min_element(ranks.begin(), ranks.begin() + ptrdiff_t(count)) -
        ranks.begin());
    if (ranks[best] == none)
      break;
    symbols[best].id = results[best];
    symbols[best].length += symbols[best + 1].length;
    --count;
    for (size_t at = best + 1; at < count; ++at) {
      symbols[at] = symbols[at + 1];
      ranks[at] = ranks[at + 1];
      results[at] = results[at + 1];
    }
    consider(best);
    if (best > 0)
      consider(best - 1);
  }
  for (size_t at = 0; at < count; ++at)
    symbols[at].next = at + 1 < count ? int32_t(at + 1) : -1;
}

void PairMerges::merge(std::vector<Symbol> &symbols) const {
  if (!symbols.empty() && symbols.size() <= kFew)
    return mergeFew(symbols);
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
