//===- BestLogits.h - The best of a row whose ranges are known --*- C++ -*-===//
//
// What a decoder returns in place of a row of logits: for each range of the
// vocabulary its part of the log-softmax and its best logits, or a device those
// of all ranges.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_BESTLOGITS_H
#define HEDDLE_RUNTIME_SEARCH_BESTLOGITS_H

#include <cstdint>

namespace heddle {

/// One row; see the role "best" in ArtifactFormat.h. Borrowed.
struct BestLogits {
  /// Of each range.
  const float *maxima, *sums;
  /// [lists, count].
  const float *values;
  const int32_t *ids;
  /// One list a range, or one of all.
  int64_t ranges, lists, count;
};

/// log(sum_i exp(l_i)) of all logits that sums count; see kSumsOfAllowed. Not
/// finite if one is NaN or +inf, or all are -inf.
float logSumExp(const BestLogits &logits);

/// The `most` best of all lists, at most as many as each list has: ids and
/// logits, descending, of equal ones the first id first. Returns how many there
/// are.
int64_t findBest(const BestLogits &logits, int64_t most, int32_t *ids,
                 float *values);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_BESTLOGITS_H
