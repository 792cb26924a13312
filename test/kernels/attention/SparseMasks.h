//===- SparseMasks.h - Masks of the literature and what they are *- C++ -*-===//

#ifndef HEDDLE_TEST_KERNELS_ATTENTION_SPARSEMASKS_H
#define HEDDLE_TEST_KERNELS_ATTENTION_SPARSEMASKS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::test {

inline constexpr int64_t kTokens = 3, kRowsOfLists = 40, kListed = 200;
inline constexpr int64_t kTableRows = 50, kTableColumns = 60;

/// What masks read, for a batch of sentences.
struct Tables {
  std::vector<int32_t> lengths, tokens, ids, offsets, listed, table;

  Tables(int64_t batch, int64_t positions);

  /// Offsets as nobody may write them, into numbers that ascend all over.
  void damageLists();
  /// Whether a row lists a number; offsets are limited to the list.
  bool lists(int64_t row, int64_t number) const;
  bool hasToken(int64_t b, int64_t position) const;
};

struct Point {
  int64_t b, h, i, j, length, positions;
};

/// A mask as IR, `%mask` of `%lengths`, `%tokens`, `%ids`, `%offsets`,
/// `%listed` and `%table`, and as its definition in Masks.td.
struct SparseMask {
  std::string name, text;
  std::function<bool(const Tables &, const Point &)> contains;
  /// Whether keys behind a sentence's end are left out by `padding`.
  bool isPadded() const;
};

std::vector<SparseMask> sparseMasks();

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ATTENTION_SPARSEMASKS_H
