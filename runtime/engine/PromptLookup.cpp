//===- PromptLookup.cpp - Guesses of what follows a text ------------------===//
//
// One pass from the end of the text, which keeps the latest place of each
// length: a step of a model takes far longer.
//
//===----------------------------------------------------------------------===//

#include "runtime/engine/PromptLookup.h"

#include <algorithm>

using namespace heddle;

static constexpr int64_t kMostEqual = 3;

std::vector<int32_t> heddle::lookUp(const std::vector<int32_t> &text,
                                    int64_t most) {
  int64_t size = int64_t(text.size()), best = 0, behind = 0;
  for (int64_t end = size - 1; end > 0 && best < kMostEqual; --end) {
    int64_t equal = 0;
    while (equal < std::min(end, kMostEqual) &&
           text[size_t(end - 1 - equal)] == text[size_t(size - 1 - equal)])
      ++equal;
    if (equal > best) {
      best = equal;
      behind = end;
    }
  }
  std::vector<int32_t> guesses;
  for (int64_t i = behind; best > 0 && i - behind < most; ++i)
    guesses.push_back(i < size ? text[size_t(i)] : guesses[size_t(i - size)]);
  return guesses;
}
