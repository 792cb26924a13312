//===- GreedyChoice.cpp - The likeliest token -----------------------------===//
//
// All scores are -inf if nothing may come.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/GreedyChoice.h"

#include "runtime/search/TokenScores.h"

#include <algorithm>
#include <limits>

using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();

std::optional<int64_t> heddle::findLargest(const NextTokenScores &scores) {
  const float *begin = scores.values, *end = begin + scores.count;
  float best = largestOf(begin, scores.count);
  if (best == kLowest)
    return std::nullopt;
  return std::find(begin, end, best) - begin;
}

std::optional<int32_t> heddle::findLargest(const LargestLogits &logits) {
  int64_t best = -1;
  for (int64_t i = 0; i < logits.count; ++i)
    if (logits.ids[i] >= 0 &&
        (best < 0 || logits.values[i] > logits.values[best]))
      best = i;
  return best >= 0 ? std::optional<int32_t>(logits.ids[best]) : std::nullopt;
}
