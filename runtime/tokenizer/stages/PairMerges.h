//===- PairMerges.h - Pieces that merge pair by pair ------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_STAGES_PAIRMERGES_H
#define HEDDLE_RUNTIME_TOKENIZER_STAGES_PAIRMERGES_H

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/Stage.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <vector>

namespace heddle::stages {

/// The merges of byte pair encoding (arXiv:1508.07909): the pair of the lowest
/// rank merges, the leftmost first, until no pair is left. A view of a table,
/// which must outlive it. Immutable.
class PairMerges {
public:
  /// Takes the arrays of `pieceCount` pieces and `mergeCount` merges.
  void take(TableReader &reader, uint32_t pieceCount, uint32_t mergeCount);
  /// Whether the arrays, which the reader had, name pieces alone.
  bool areWhole() const;

  /// A piece of a word in the making. A negative id merges with nothing.
  struct Symbol {
    int32_t id;
    uint32_t length;
    int32_t previous, next;
  };
  /// Appends a symbol.
  static void add(int32_t id, uint32_t length, std::vector<Symbol> &symbols);
  /// Merges the symbols of a word; those that are left are a list from the
  /// first one on, which a negative `next` ends. Takes n log n.
  void merge(std::vector<Symbol> &symbols) const;

private:
  /// The same of a few, without a heap.
  void mergeFew(std::vector<Symbol> &symbols) const;
  /// What two pieces become, or null.
  const format::PairMerge *find(int32_t left, int32_t right) const;

  uint32_t pieceCount = 0, mergeCount = 0;
  const uint32_t *mergeBegins = nullptr;
  const format::PairMerge *merges = nullptr;
};

} // namespace heddle::stages

#endif // HEDDLE_RUNTIME_TOKENIZER_STAGES_PAIRMERGES_H
