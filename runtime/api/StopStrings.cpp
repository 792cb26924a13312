//===- StopStrings.cpp - Texts that end a text ----------------------------===//
//
// They are few and short, so that each is looked for by itself.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/StopStrings.h"

#include <algorithm>

using namespace heddle;

size_t StopStrings::longest() const {
  size_t most = 0;
  for (const std::string &string : strings)
    most = std::max(most, string.size());
  return most;
}

size_t StopStrings::find(std::string_view text, size_t from,
                         size_t least) const {
  size_t first = std::string_view::npos;
  for (const std::string &string : strings) {
    size_t begin = from < string.size() ? 0 : from - string.size() + 1;
    first = std::min(first, text.find(string, std::max(begin, least)));
  }
  return first;
}

size_t StopStrings::held(std::string_view text) const {
  size_t most = 0;
  for (const std::string &string : strings)
    for (size_t size = std::min(string.size() - 1, text.size()); size > most;
         --size)
      if (text.substr(text.size() - size) ==
          std::string_view(string).substr(0, size)) {
        most = size;
        break;
      }
  return most;
}

size_t heddle::endOfText(std::string_view text, std::string_view before,
                         const StopStrings &stops, size_t given) {
  size_t most = std::min(text.size(), before.size());
  size_t same =
      size_t(std::mismatch(text.begin(), text.begin() + ptrdiff_t(most),
                           before.begin())
                 .first -
             text.begin());
  return std::min(stops.find(text, same, given), text.size());
}
