//===- Utf8.cpp - Code points of untrusted text ---------------------------===//
//
// A lead byte says how many bytes follow and which values they may form:
// overlong forms, surrogates and values beyond U+10FFFF are not well-formed.
//
//===----------------------------------------------------------------------===//

#include "runtime/Utf8.h"

#include <cstddef>

using namespace heddle;

CodePoint heddle::takeCodePoint(std::string_view &text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto take = [&](char32_t value, size_t length) {
    CodePoint result{value, text.substr(0, length)};
    text.remove_prefix(length);
    return result;
  };
  unsigned char lead = byte(0);
  if (lead < 0x80)
    return take(lead, 1);
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length)
    return take(kReplacementCharacter, 1);
  char32_t value = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return take(kReplacementCharacter, 1);
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[length] || surrogate || value > 0x10FFFF)
    return take(kReplacementCharacter, 1);
  return take(value, length);
}
