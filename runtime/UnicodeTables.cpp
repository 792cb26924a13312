//===- UnicodeTables.cpp - What kind of character one is ------------------===//
//
// A table lists where membership begins and ends in turn.
//
//===----------------------------------------------------------------------===//

#include "runtime/UnicodeTables.h"

#include <algorithm>
#include <iterator>

#include "runtime/UnicodeTables.inc"

template <typename Table>
static bool contains(const Table &table, char32_t character) {
  auto next = std::upper_bound(std::begin(table), std::end(table), character);
  return (next - std::begin(table)) % 2 != 0;
}

bool heddle::isLetter(char32_t character) {
  return contains(kLetters, character);
}

bool heddle::isLowercase(char32_t character) {
  return contains(kLowercase, character);
}

bool heddle::isUppercase(char32_t character) {
  return contains(kUppercase, character);
}

bool heddle::isMark(char32_t character) { return contains(kMarks, character); }

bool heddle::isNumber(char32_t character) {
  return contains(kNumbers, character);
}

bool heddle::isDigit(char32_t character) {
  return contains(kDigits, character);
}

bool heddle::isSymbol(char32_t character) {
  return contains(kSymbols, character);
}

bool heddle::isFinalQuote(char32_t character) {
  return contains(kFinalQuotes, character);
}

bool heddle::isSpace(char32_t character) {
  return contains(kSpaces, character);
}

bool heddle::isSentenceEnd(char32_t character) {
  return contains(kSentenceEnds, character);
}

bool heddle::isInitialQuote(char32_t character) {
  return contains(kInitialQuotes, character);
}

bool heddle::isClosing(char32_t character) {
  return contains(kClosing, character);
}
