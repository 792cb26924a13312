//===- TokenScores.h - Log-probabilities and the best of them ---*- C++ -*-===//
//
// What a search makes of a row of logits. Sums have one order, whatever the
// machine: 16 lanes of blocks, then a tree.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_TOKENSCORES_H
#define HEDDLE_RUNTIME_SEARCH_TOKENSCORES_H

#include <cstdint>

namespace heddle {

/// log(sum_i exp(values[i])), within 1e-6 and the rounding to f32: what a logit
/// is above its log-probability. Values of -inf count nothing. Not finite
/// if a value is NaN or +inf, or all are -inf.
float logSumExp(const float *values, int64_t count);

/// The largest number among the values; -inf if there is none.
float largestOf(const float *values, int64_t count);

/// The indices of the `most` largest values above -inf, descending; of equal
/// ones the first comes first. What is no number is never among them. Returns
/// how many there are.
int64_t findBest(const float *values, int64_t count, int64_t most,
                 int32_t *indices);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_TOKENSCORES_H
