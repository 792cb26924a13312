//===- NearNames.cpp - Which known name may be meant ----------------------===//
//
// An edit adds, removes or replaces a letter, or swaps two neighbours. Names
// that differ in more than half of their letters have nothing in common.
//
//===----------------------------------------------------------------------===//

#include "runtime/NearNames.h"

#include <algorithm>
#include <cstddef>

using namespace heddle;

/// A word of fewer letters says nothing.
static constexpr size_t kLeastWord = 3;
/// More names than these are no help.
static constexpr size_t kMostNames = 3;

/// The fewest edits from one name to another. Rows are prefixes of `from`.
static size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> before(to.size() + 1), last(to.size() + 1), row(last);
  for (size_t j = 0; j <= to.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1,
                         last[j - 1] + (from[i - 1] != to[j - 1])});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
          from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

/// Whether `word` stands in `name` between dashes, or is one of its words but
/// for the ending of a plural.
static bool hasWord(std::string_view name, std::string_view word) {
  while (!name.empty()) {
    std::string_view each = name.substr(0, name.find('-'));
    name.remove_prefix(std::min(name.size(), each.size() + 1));
    if (each == word || (each.size() == word.size() + 1 && each.back() == 's' &&
                         each.substr(0, word.size()) == word))
      return true;
  }
  return false;
}

std::vector<std::string_view>
heddle::findNearNames(std::string_view name,
                      const std::vector<std::string_view> &known) {
  std::string written(name);
  std::replace(written.begin(), written.end(), '_', '-');
  std::vector<std::string_view> found;
  if (written.empty())
    return found;
  for (std::string_view each : known)
    if (each.substr(0, written.size()) == written)
      found.push_back(each);
  if (!found.empty())
    return found;

  // No name is as far away as this.
  size_t fewest = written.size() + 1;
  for (std::string_view each : known) {
    size_t edits = editDistance(written, each);
    if (2 * edits > std::max(written.size(), each.size()) || edits > fewest)
      continue;
    if (edits < fewest)
      found.clear();
    fewest = edits;
    found.push_back(each);
  }
  if (!found.empty())
    return found;

  for (std::string_view each : known) {
    if (each.size() < kLeastWord || !hasWord(written, each) ||
        (!found.empty() && each.size() < found.front().size()))
      continue;
    if (!found.empty() && each.size() > found.front().size())
      found.clear();
    found.push_back(each);
  }
  return found;
}

std::string heddle::askForNames(const std::vector<std::string_view> &names,
                                std::string_view prefix) {
  if (names.empty() || names.size() > kMostNames)
    return "";
  std::string text = "is ";
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '";
    text.append(prefix).append(names[i]) += "'";
  }
  return text + " meant?";
}
