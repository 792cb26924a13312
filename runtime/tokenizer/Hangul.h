//===- Hangul.h - Syllables and their letters -------------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_HANGUL_H
#define HEDDLE_RUNTIME_TOKENIZER_HANGUL_H

#include "runtime/tokenizer/Utf8.h"

#include <string>

/// Section 3.12 of the Unicode standard.
namespace heddle::hangul {

inline constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100,
                          kVowels = 0x1161, kTails = 0x11A7, kLeadCount = 19,
                          kVowelCount = 21, kTailCount = 28,
                          kSyllableCount =
                              kLeadCount * kVowelCount * kTailCount;

inline bool isSyllable(char32_t c) {
  return c >= kSyllables && c < kSyllables + kSyllableCount;
}

inline std::string decompose(char32_t syllable) {
  char32_t index = syllable - kSyllables, tail = index % kTailCount;
  std::string letters;
  appendUtf8(kLeads + index / kTailCount / kVowelCount, letters);
  appendUtf8(kVowels + index / kTailCount % kVowelCount, letters);
  if (tail)
    appendUtf8(kTails + tail, letters);
  return letters;
}

/// What two characters are together, or 0.
inline char32_t compose(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
      second < kVowels + kVowelCount)
    return kSyllables +
           ((first - kLeads) * kVowelCount + second - kVowels) * kTailCount;
  if (isSyllable(first) && (first - kSyllables) % kTailCount == 0 &&
      second > kTails && second < kTails + kTailCount)
    return first + second - kTails;
  return 0;
}

} // namespace heddle::hangul

#endif // HEDDLE_RUNTIME_TOKENIZER_HANGUL_H
