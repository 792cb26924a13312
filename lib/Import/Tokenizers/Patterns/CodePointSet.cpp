//===- CodePointSet.cpp - Which characters one of a pattern may be --------===//
//
// Sets are lists of ranges: the largest, of all unassigned characters, has 700.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"

#include <algorithm>

using namespace heddle;

CodePointSet::CodePointSet(std::vector<Range> unsorted) {
  std::sort(unsorted.begin(), unsorted.end());
  for (const Range &range : unsorted) {
    if (!ranges.empty() && range.first <= ranges.back().second + 1)
      ranges.back().second = std::max(ranges.back().second, range.second);
    else
      ranges.push_back(range);
  }
}

bool CodePointSet::contains(char32_t point) const {
  auto next = std::upper_bound(
      ranges.begin(), ranges.end(), point,
      [](char32_t value, const Range &range) { return value < range.first; });
  return next != ranges.begin() && point <= std::prev(next)->second;
}

CodePointSet CodePointSet::complement() const {
  CodePointSet result;
  char32_t begin = 0;
  for (const Range &range : ranges) {
    if (range.first > begin)
      result.ranges.push_back({begin, range.first - 1});
    begin = range.second + 1;
  }
  if (begin <= kLast)
    result.ranges.push_back({begin, kLast});
  return result;
}

CodePointSet CodePointSet::unite(const CodePointSet &other) const {
  std::vector<Range> both = ranges;
  both.insert(both.end(), other.ranges.begin(), other.ranges.end());
  return CodePointSet(std::move(both));
}

CodePointSet CodePointSet::intersect(const CodePointSet &other) const {
  CodePointSet result;
  for (auto left = ranges.begin(), right = other.ranges.begin();
       left != ranges.end() && right != other.ranges.end();) {
    char32_t first = std::max(left->first, right->first),
             last = std::min(left->second, right->second);
    if (first <= last)
      result.ranges.push_back({first, last});
    left->second < right->second ? ++left : ++right;
  }
  return result;
}
