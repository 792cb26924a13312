//===- BytePairs.cpp - Byte pair encoding of words ------------------------===//
//
// The pieces of a word are a doubly linked list in an array; a heap holds the
// pairs that may merge. A pair is out of date if one of its two is no longer
// what it was.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/BytePairs.h"

#include "runtime/artifact/TableReader.h"

#include <algorithm>
#include <limits>
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
} // namespace

Result<BytePairs> BytePairs::parse(std::string_view bytes) {
  BytePairs pairs;
  TableReader reader(bytes);
  reader.take(pairs.header, 1);
  if (reader.isWhole()) {
    uint64_t begins = uint64_t(pairs.header->pieceCount) + 1;
    reader.take(pairs.mergeBegins, begins);
    reader.take(pairs.merges, pairs.header->mergeCount);
    reader.take(pairs.textBegins, begins);
  }
  pairs.texts = reader.takeRest();
  if (!reader.isWhole())
    return Status::error("section 'tokenizer.pairs' has ", bytes.size(),
                         " bytes, fewer than its header says");
  if (Status status = pairs.check(); !status.ok())
    return status;
  return pairs;
}

/// Whether offsets ascend and end where what they lead to does.
static bool ascend(const uint32_t *begins, uint32_t count, uint64_t end) {
  return begins[0] == 0 && std::is_sorted(begins, begins + count + 1) &&
         begins[count] == end;
}

Status BytePairs::check() const {
  uint32_t count = header->pieceCount;
  auto isPiece = [&](uint32_t id) { return id < count; };
  bool isWhole =
      count <= uint32_t(std::numeric_limits<int32_t>::max()) &&
      ascend(mergeBegins, count, header->mergeCount) &&
      ascend(textBegins, count, texts.size()) &&
      std::all_of(std::begin(header->byteIds), std::end(header->byteIds),
                  [&](int32_t id) { return id == -1 || isPiece(id); }) &&
      std::all_of(merges, merges + header->mergeCount,
                  [&](const format::PairMerge &merge) {
                    return isPiece(merge.right) && isPiece(merge.result);
                  });
  if (isWhole)
    return Status::success();
  return Status::error("section 'tokenizer.pairs' has offsets or ids beyond "
                       "its ",
                       count, " pieces");
}

const format::PairMerge *BytePairs::find(int32_t left, int32_t right) const {
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

void BytePairs::encode(std::string_view word, std::vector<int32_t> &ids) const {
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
  for (int32_t at = 0; at >= 0; at = symbols[at].next)
    ids.push_back(symbols[at].id);
}
