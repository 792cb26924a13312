//===- BestLogits.cpp - The best of a row whose ranges are known ----------===//
//
// Few numbers a row: their order is that of the ranges, so that no bit depends
// on anything else.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/BestLogits.h"

#include <algorithm>
#include <cmath>

using namespace heddle;

float heddle::logSumExp(const BestLogits &logits) {
  double most = *std::max_element(logits.maxima, logits.maxima + logits.ranges);
  double sum = 0;
  for (int64_t k = 0; k < logits.ranges; ++k)
    sum += logits.sums[k] * std::exp(logits.maxima[k] - most);
  return static_cast<float>(most + std::log(sum));
}

int64_t heddle::findBest(const BestLogits &logits, int64_t most, int32_t *ids,
                         float *values) {
  int64_t found = 0;
  for (int64_t k = 0; k < logits.lists; ++k)
    for (int64_t i = 0; i < logits.count; ++i) {
      float value = logits.values[k * logits.count + i];
      int32_t id = logits.ids[k * logits.count + i];
      // A list's own descend: those behind are no better.
      if (id < 0 || (found == most && !(value > values[most - 1])))
        break;
      int64_t at = found < most ? found++ : most - 1;
      // Behind all that are as large: their ids come before.
      for (; at > 0 && values[at - 1] < value; --at) {
        values[at] = values[at - 1];
        ids[at] = ids[at - 1];
      }
      values[at] = value;
      ids[at] = id;
    }
  return found;
}
