//===- PatternCursor.cpp - A place in a pattern ---------------------------===//
//
// Patterns are short: all characters are decoded at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/PatternCursor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;
using namespace heddle;

PatternCursor::PatternCursor(StringRef pattern) {
  auto *from = reinterpret_cast<const UTF8 *>(pattern.begin()),
       *end = reinterpret_cast<const UTF8 *>(pattern.end());
  while (from < end) {
    UTF32 character = UNI_REPLACEMENT_CHAR;
    if (convertUTF8Sequence(&from, end, &character, strictConversion) !=
        conversionOK)
      ++from;
    characters.push_back(character);
  }
}

bool PatternCursor::take(char32_t character) {
  if (atEnd() || next() != character)
    return false;
  ++at;
  return true;
}

bool PatternCursor::take(StringRef ascii) {
  size_t begin = at;
  for (char character : ascii)
    if (!take(static_cast<char32_t>(character))) {
      at = begin;
      return false;
    }
  return true;
}

std::optional<unsigned> PatternCursor::takeNumber() {
  size_t begin = at;
  unsigned number = 0;
  while (!atEnd() && next() >= '0' && next() <= '9' && at - begin < 9)
    number = number * 10 + (takeAny() - '0');
  return at > begin ? std::optional<unsigned>(number) : std::nullopt;
}

std::optional<char32_t> PatternCursor::takeHexadecimal(unsigned least,
                                                       unsigned most) {
  size_t begin = at;
  char32_t number = 0;
  while (!atEnd() && next() < 128 && isHexDigit(char(next())) &&
         at - begin < most)
    number = number * 16 + hexDigitValue(char(takeAny()));
  return at - begin >= least ? std::optional<char32_t>(number) : std::nullopt;
}

std::optional<std::string> PatternCursor::takeUntil(char32_t end) {
  std::string text;
  while (!atEnd()) {
    char32_t character = takeAny();
    if (character == end)
      return text;
    text += character < 128 ? char(character) : '?';
  }
  return std::nullopt;
}

void PatternCursor::fail(size_t place, const Twine &what) {
  if (failed())
    return;
  failedAt = place;
  sentence = what.str();
}
