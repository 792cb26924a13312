//===- BytePairs.h - Byte pair encoding of words ----------------*- C++ -*-===//
//
// Byte pair encoding (arXiv:1508.07909) over bytes: a word begins as the pieces
// of its bytes, and of all neighbours that may merge those of the least rank
// do, the leftmost first, until none may. The section `tokenizer.pairs` is used
// in place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_BYTEPAIRS_H
#define HEDDLE_RUNTIME_TOKENIZER_BYTEPAIRS_H

#include "runtime/Result.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle {

/// A view of the section, which must stay. Immutable.
class BytePairs {
public:
  /// Refuses a section that is not whole.
  static Result<BytePairs> parse(std::string_view bytes);

  /// Appends the pieces of `word`, -1 for a byte that none stands for. Takes
  /// n log n for n bytes.
  void encode(std::string_view word, std::vector<int32_t> &ids) const;

  int32_t pieceCount() const { return int32_t(header->pieceCount); }
  /// The bytes of a piece; `id` is below pieceCount.
  std::string_view text(int32_t id) const {
    return texts.substr(textBegins[id], textBegins[id + 1] - textBegins[id]);
  }

private:
  /// What two pieces become, or null.
  const format::PairMerge *find(int32_t left, int32_t right) const;
  Status check() const;

  const format::PairsHeader *header = nullptr;
  const uint32_t *mergeBegins = nullptr;
  const format::PairMerge *merges = nullptr;
  const uint32_t *textBegins = nullptr;
  std::string_view texts;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_BYTEPAIRS_H
