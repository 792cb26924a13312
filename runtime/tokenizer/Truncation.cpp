//===- Truncation.cpp - Texts that are longer than a model ----------------===//
//
// How many tokens of each text a window has is decided once; both texts are
// then cut into windows of that many, and each of the first text meets each of
// the second.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Truncation.h"

#include <algorithm>
#include <tuple>

using namespace heddle;

/// How many tokens of two texts stay.
static std::pair<size_t, size_t> shareRoom(size_t first, size_t second,
                                           size_t room) {
  bool isSwapped = first > second;
  size_t shorter = std::min(first, second), longer;
  longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return isSwapped ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

/// The windows of `size` tokens of a text of `count`.
static std::vector<TokenRange> cut(size_t count, size_t size,
                                   const Truncation &truncation) {
  if (size >= count)
    return {{0, count}};
  // The library then has no part of the text in one window, and all of it in
  // another, however long that is.
  if (size == 0)
    return {{0, 0}, {0, count}};
  std::vector<TokenRange> windows;
  size_t step = size - truncation.stride;
  for (size_t done = 0;; done += step) {
    size_t end = std::min(done + size, count);
    windows.push_back(truncation.keepsEnd
                          ? TokenRange{count - end, count - done}
                          : TokenRange{done, end});
    if (end == count)
      return windows;
  }
}

Result<std::vector<TextWindow>> heddle::truncate(size_t first,
                                                 std::optional<size_t> second,
                                                 size_t specialCount,
                                                 const Truncation &truncation) {
  using Strategy = Truncation::Strategy;
  if (specialCount > truncation.maxTokens)
    return Status::error("has ", specialCount,
                         " special tokens around its text, expected at most ",
                         truncation.maxTokens);
  size_t room = truncation.maxTokens - specialCount,
         total = first + second.value_or(0);
  size_t keptFirst = first, keptSecond = second.value_or(0);
  if (total > room) {
    size_t excess = total - room;
    bool isFirst = truncation.strategy == Strategy::OnlyFirst || !second;
    if (second && truncation.strategy == Strategy::LongestFirst) {
      std::tie(keptFirst, keptSecond) = shareRoom(first, *second, room);
    } else if (size_t &kept = isFirst ? keptFirst : keptSecond;
               kept > excess || (!second && kept == excess)) {
      kept -= excess;
    } else {
      size_t others = isFirst ? keptSecond : keptFirst;
      return Status::error(
          "has ", others, others == 1 ? " token" : " tokens", " in its ",
          isFirst ? "second" : "first", " text, expected at most ",
          std::max<size_t>(room, 1) - 1, " beside another one");
    }
  }
  for (auto [kept, count] :
       {std::pair(keptFirst, first), {keptSecond, second.value_or(0)}})
    if (kept && kept < count && truncation.stride >= kept)
      return Status::error("has windows of ", kept,
                           " tokens of its text, expected more than a stride "
                           "of ",
                           truncation.stride);
  std::vector<TokenRange> firsts = cut(first, keptFirst, truncation),
                          seconds =
                              cut(second.value_or(0), keptSecond, truncation);
  // In the library's order, the first of the first text with the others of the
  // second one last.
  std::vector<TextWindow> windows = {{firsts[0], seconds[0]}};
  for (size_t i = 1; i < firsts.size(); ++i)
    for (const TokenRange &range : seconds)
      windows.push_back({firsts[i], range});
  for (size_t i = 1; i < seconds.size(); ++i)
    windows.push_back({firsts[0], seconds[i]});
  return windows;
}
