//===- Utf8.h - Code points of untrusted text -------------------*- C++ -*-===//
//
// UTF-8 as the Unicode standard recommends for damaged text: the longest start
// of a character that does not go on reads as one U+FFFD, every other byte that
// is not well-formed as one of its own, and reading always goes on.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_UTF8_H
#define HEDDLE_RUNTIME_TOKENIZER_UTF8_H

#include <string>
#include <string_view>

namespace heddle {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";

/// One code point and the bytes it was read from.
struct CodePoint {
  char32_t value;
  std::string_view bytes;
};

/// Removes the first code point of `text`, which must not be empty.
CodePoint takeCodePoint(std::string_view &text);

/// Appends a code point as UTF-8.
void appendUtf8(char32_t point, std::string &text);

bool isUtf8(std::string_view text);
/// The text with U+FFFD in place of what is not well-formed.
std::string repairUtf8(std::string_view text);
/// The text without what is not well-formed.
std::string dropDamage(std::string_view text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_UTF8_H
