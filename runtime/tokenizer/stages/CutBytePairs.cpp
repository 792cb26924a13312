//===- CutBytePairs.cpp - Byte pair encoding of words ---------------------===//
//
// Byte pair encoding (arXiv:1508.07909) over bytes: a word starts as one piece
// a byte. The pair of the lowest rank merges, the leftmost first, until no pair
// is left. The pieces of a word are a doubly linked list in an array; a heap
// holds the pairs that may merge. A pair is out of date if one of its two is no
// longer what it was.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace heddle;

namespace {
/// A piece of a word in the making. A negative `next` is the end.
struct Symbol {
  int32_t id;
  int32_t previous, next;
};

/// Two neighbours that may merge, the first at `position`.
struct Candidate {
  uint32_t rank;
  int32_t position, left, right, result;

  /// The largest of a heap is the one to take first.
  bool operator<(const Candidate &other) const {
    return std::tie(rank, position) > std::tie(other.rank, other.position);
  }
};

class CutBytePairs final : public PieceModel {
public:
  static Result<CutBytePairs> parse(std::string_view table);

  /// Takes n log n for n bytes.
  void cut(std::string_view word, std::vector<Piece> &pieces) const override;

private:
  /// What two pieces become, or null.
  const format::PairMerge *find(int32_t left, int32_t right) const;
  bool isWhole() const;

  const format::PairsHeader *header = nullptr;
  const uint32_t *mergeBegins = nullptr;
  const format::PairMerge *merges = nullptr;
};
} // namespace

Result<CutBytePairs> CutBytePairs::parse(std::string_view table) {
  CutBytePairs pairs;
  TableReader reader(table);
  reader.take(pairs.header, 1);
  if (reader.isWhole()) {
    reader.take(pairs.mergeBegins, uint64_t(pairs.header->pieceCount) + 1);
    reader.take(pairs.merges, pairs.header->mergeCount);
  }
  if (!reader.takeRest().empty() || !reader.isWhole() || !pairs.isWhole())
    return Status::error("is not a whole table of byte pairs");
  return pairs;
}

bool CutBytePairs::isWhole() const {
  uint32_t count = header->pieceCount;
  auto isPiece = [&](uint32_t id) { return id < count; };
  auto isPieceOrNone = [&](int32_t id) { return id == -1 || isPiece(id); };
  return count <= format::kPieceIdMask && header->unknown >= -1 &&
         mergeBegins[0] == 0 &&
         std::is_sorted(mergeBegins, mergeBegins + count + 1) &&
         mergeBegins[count] == header->mergeCount &&
         std::all_of(std::begin(header->byteIds), std::end(header->byteIds),
                     isPieceOrNone) &&
         std::all_of(merges, merges + header->mergeCount,
                     [&](const format::PairMerge &merge) {
                       return isPiece(merge.right) && isPiece(merge.result);
                     });
}

const format::PairMerge *CutBytePairs::find(int32_t left, int32_t right) const {
  if (left < 0 || right < 0)
    return nullptr;
  const format::PairMerge *end = merges + mergeBegins[left + 1];
  const format::PairMerge *found =
      std::lower_bound(merges + mergeBegins[left], end, uint32_t(right),
                       [](const format::PairMerge &merge, uint32_t wanted) {
                         return merge.right < wanted;
                       });
  return found != end && found->right == uint32_t(right) ? found : nullptr;
}

void CutBytePairs::cut(std::string_view word,
                       std::vector<Piece> &pieces) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (unsigned char byte : word) {
    int32_t index = int32_t(symbols.size());
    symbols.push_back({header->byteIds[byte], index - 1, index + 1});
  }
  symbols.back().next = -1;

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
    symbol.next = right.next;
    right.id = gone;
    if (symbol.next >= 0)
      symbols[symbol.next].previous = best.position;
    consider(symbol.previous);
    consider(best.position);
  }
  for (int32_t at = 0; at >= 0; at = symbols[at].next) {
    int32_t end =
                symbols[at].next < 0 ? int32_t(word.size()) : symbols[at].next,
            id = symbols[at].id < 0 ? header->unknown : symbols[at].id;
    if (id >= 0)
      pieces.push_back({id, {uint32_t(at), uint32_t(end)}});
  }
}

stages::MadeModel stages::makeCutBytePairs(std::string_view table) {
  Result<CutBytePairs> pairs = CutBytePairs::parse(table);
  if (!pairs.ok())
    return pairs.status();
  return std::unique_ptr<PieceModel>(std::make_unique<CutBytePairs>(*pairs));
}
