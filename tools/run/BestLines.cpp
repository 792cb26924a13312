//===- BestLines.cpp - The best lines of a stream -------------------------===//
//
// A line that comes later is worse than one of the same score.
//
//===----------------------------------------------------------------------===//

#include "tools/run/BestLines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using namespace heddle;

static float rankOf(float score) {
  return std::isnan(score) ? -std::numeric_limits<float>::infinity() : score;
}

static bool isBetter(const ScoredLine &a, const ScoredLine &b) {
  return std::pair(-rankOf(a.score), a.number) <
         std::pair(-rankOf(b.score), b.number);
}

void BestLines::add(int64_t number, float score, const std::string &text) {
  if (lines.size() == most) {
    if (most == 0 || rankOf(score) <= rankOf(lines.front().score))
      return;
    std::pop_heap(lines.begin(), lines.end(), isBetter);
    lines.pop_back();
  }
  lines.push_back({number, score, text});
  std::push_heap(lines.begin(), lines.end(), isBetter);
}

std::vector<ScoredLine> BestLines::take() {
  std::vector<ScoredLine> best = std::move(lines);
  std::sort_heap(best.begin(), best.end(), isBetter);
  return best;
}
