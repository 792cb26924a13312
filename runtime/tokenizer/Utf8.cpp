//===- Utf8.cpp - Code points of untrusted text ---------------------------===//
//
// A lead byte says how many bytes follow and which the second may be: overlong
// forms, surrogates and values beyond U+10FFFF are not well-formed.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Utf8.h"

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
  if (lead < 0xC2 || lead > 0xF4)
    return take(kReplacementCharacter, 1);
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t value = lead & (0x7F >> length);
  // Bounds of the second byte.
  unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size() || byte(i) < least || byte(i) > most)
      return take(kReplacementCharacter, i);
    value = (value << 6) | (byte(i) & 0x3F);
    least = 0x80;
    most = 0xBF;
  }
  return take(value, length);
}

static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Whether a code point is what its bytes are, and not what they read as.
static bool isWhole(const CodePoint &point) {
  return point.value != kReplacementCharacter || point.bytes == kReplacement;
}

bool heddle::isUtf8(std::string_view text) {
  while (!text.empty())
    if (!isWhole(takeCodePoint(text)))
      return false;
  return true;
}

/// The text with another one in place of what is not well-formed.
static std::string replaceDamage(std::string_view text,
                                 std::string_view other) {
  std::string repaired;
  repaired.reserve(text.size());
  std::string_view rest = text;
  size_t done = 0;
  while (!rest.empty()) {
    size_t begin = text.size() - rest.size();
    if (isWhole(takeCodePoint(rest)))
      continue;
    repaired.append(text, done, begin - done).append(other);
    done = text.size() - rest.size();
  }
  repaired.append(text, done, std::string_view::npos);
  return repaired;
}

std::string heddle::repairUtf8(std::string_view text) {
  return replaceDamage(text, kReplacement);
}

std::string heddle::dropDamage(std::string_view text) {
  return replaceDamage(text, "");
}

void heddle::appendUtf8(char32_t point, std::string &text) {
  if (point < 0x80) {
    text += char(point);
    return;
  }
  auto last = [&](int shift) { return char(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x800) {
    text += char(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    text += char(0xE0 | point >> 12);
    text += last(6);
  } else {
    text += char(0xF0 | point >> 18);
    text += last(12);
    text += last(6);
  }
  text += last(0);
}
