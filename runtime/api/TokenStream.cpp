//===- TokenStream.cpp - Tokens as they are generated ---------------------===//

#include "runtime/api/TokenStream.h"

#include <algorithm>
#include <string_view>

using namespace heddle;

static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// How much of a text no token behind it changes.
size_t TokenStream::certain(const Told &told, const std::string &text,
                            bool isLast) const {
  if (isLast)
    return text.size();
  size_t most = std::min(told.text.size(), text.size());
  size_t same =
      size_t(std::mismatch(text.begin(), text.begin() + ptrdiff_t(most),
                           told.text.begin())
                 .first -
             text.begin());
  // What has some bytes of a character reads as U+FFFD until the last is there.
  if (same == text.size() && same >= kReplacement.size() &&
      text.compare(same - kReplacement.size(), same, kReplacement) == 0)
    same -= kReplacement.size();
  // Not within a character, of which the texts may share the first bytes.
  while (same > 0 && same < text.size() && (text[same] & 0xC0) == 0x80)
    --same;
  if (takesSpacesBack) {
    size_t space = text.substr(0, same).rfind(' ');
    same = space == std::string::npos ? 0 : space;
  }
  return std::max(same, told.size);
}

bool TokenStream::add(int64_t input, const TokenIds &before, int32_t token,
                      bool isLast) {
  TokenIds ids = before;
  if (token >= 0)
    ids.push_back(token);
  std::string text = tokens.text(ids);
  std::lock_guard<std::mutex> lock(mutex);
  if (isOver)
    return false;
  Told &told = inputs[input];
  size_t end = certain(told, text, isLast);
  size_t begin = std::min(told.size, end);
  std::string added = text.substr(begin, end - begin);
  told = {std::move(text), end};
  if (isLast)
    inputs.erase(input);
  isOver = callback(context, size_t(input), token, added.c_str(), added.size(),
                    isLast) != 0;
  return !isOver;
}
