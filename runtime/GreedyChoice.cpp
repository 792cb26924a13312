//===- GreedyChoice.cpp - The likeliest token -----------------------------===//
//
// All scores are -inf where nothing may come: that is not the same as scores
// that are no numbers.
//
//===----------------------------------------------------------------------===//

#include "runtime/GreedyChoice.h"

#include "runtime/TokenScores.h"

#include <algorithm>
#include <limits>

using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();

std::optional<int64_t> heddle::findLargest(const NextTokenScores &scores) {
  const float *begin = scores.values, *end = begin + scores.count;
  float best = largestOf(begin, scores.count);
  if (best != kLowest)
    return std::find(begin, end, best) - begin;
  if (std::count(begin, end, best) != scores.count)
    return std::nullopt;
  return scores.find(kFirstId).value_or(0);
}

std::optional<int32_t> heddle::findLargest(const LargestLogits &logits) {
  int64_t best = -1;
  bool areAllLowest = true;
  for (int64_t i = 0; i < logits.count; ++i) {
    areAllLowest &= logits.values[i] == kLowest;
    if (logits.ids[i] >= 0 &&
        (best < 0 || logits.values[i] > logits.values[best]))
      best = i;
  }
  if (best >= 0)
    return logits.ids[best];
  return areAllLowest ? std::optional<int32_t>(kFirstId) : std::nullopt;
}
