//===- GreedyChoice.h - The likeliest token ---------------------*- C++ -*-===//
//
// Greedy search's choice among scores, on a tie the one with the lowest id.
// What is no number is not chosen.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_GREEDYCHOICE_H
#define HEDDLE_RUNTIME_SEARCH_GREEDYCHOICE_H

#include "runtime/search/Constraints.h"

#include <cstdint>
#include <optional>

namespace heddle {

/// The largest logit of each of `count` ranges of the vocabulary, or of all as
/// one, and the first id that has it, among those that are not forbidden. An id
/// of -1 stands if none is above -inf; the value is then NaN if one is no
/// number.
struct LargestLogits {
  const float *values;
  const int32_t *ids;
  int64_t count;
};

/// Where the largest score stands; none if nothing may come, or no score is
/// a number.
std::optional<int64_t> findLargest(const NextTokenScores &scores);

/// The id of the largest of all ranges; none if nothing may come, or no
/// logit is a number.
std::optional<int32_t> findLargest(const LargestLogits &logits);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_GREEDYCHOICE_H
