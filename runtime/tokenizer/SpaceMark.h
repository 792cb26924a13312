//===- SpaceMark.h - U+2581, a space in pieces ------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H
#define HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H

#include <cstddef>
#include <string_view>

namespace heddle {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// Whether a mark begins at a place, which is in the text.
inline bool startsWithMark(std::string_view text, size_t at) {
  return text[at] == kSpaceMark[0] &&
         text.compare(at, kSpaceMark.size(), kSpaceMark) == 0;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_SPACEMARK_H
