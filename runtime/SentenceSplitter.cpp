//===- SentenceSplitter.cpp - Cuts running text into sentences ------------===//
//
// One pass: all that is looked at behind a candidate is looked at once more
// when the search goes on there, and no rule looks further back than a
// character.
//
//===----------------------------------------------------------------------===//

#include "runtime/SentenceSplitter.h"

#include "runtime/UnicodeTables.h"
#include "runtime/Utf8.h"

#include <algorithm>

using namespace heddle;

static constexpr std::string_view kEnds = ".?!", kSpaces = " \t\n\v\f\r";

/// Removes what belongs to `isMember` from the front, and returns it.
template <typename Predicate>
static std::string_view takeWhile(std::string_view &text, Predicate isMember) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view next = rest;
    if (!isMember(takeCodePoint(next).value))
      break;
    rest = next;
  }
  std::string_view taken = text.substr(0, text.size() - rest.size());
  text = rest;
  return taken;
}

static bool isAsciiSpace(char32_t character) {
  return character < 128 &&
         kSpaces.find(static_cast<char>(character)) != std::string_view::npos;
}

static std::string_view takeSpaces(std::string_view &text) {
  return takeWhile(text, isAsciiSpace);
}

static bool isCloser(char32_t character) {
  return character == U'\'' || character == U'"' || character == U')' ||
         character == U']' || isFinalQuote(character);
}

/// Removes "[1,2]" from the front: decimal digits with commas and spaces
/// between them, two digits at least.
static void takeFootnote(std::string_view &text) {
  if (text.empty() || text.front() != '[')
    return;
  std::string_view rest = text.substr(1);
  char32_t last = 0;
  int64_t characters = 0;
  takeWhile(rest, [&](char32_t character) {
    bool isInside =
        isDigit(character) ||
        (characters > 0 && (character == U',' || isAsciiSpace(character)));
    if (isInside) {
      last = character;
      ++characters;
    }
    return isInside;
  });
  if (characters >= 2 && isDigit(last) && !rest.empty() && rest.front() == ']')
    text = rest.substr(1);
}

/// Removes what closes a sentence behind its last sign.
static std::string_view takeTail(std::string_view &text) {
  std::string_view rest = text;
  takeWhile(rest, isCloser);
  takeFootnote(rest);
  takeWhile(rest, isCloser);
  std::string_view tail = text.substr(0, text.size() - rest.size());
  text = rest;
  return tail;
}

/// The first letter or number of what follows, behind punctuation that opens,
/// spaces and marks; 0 where there is none.
static char32_t firstLetter(std::string_view text) {
  takeWhile(text, [](char32_t character) {
    return !isAsciiSpace(character) && !isLetter(character) &&
           !isNumber(character) && !isMark(character) && !isSymbol(character);
  });
  takeSpaces(text);
  takeWhile(text, isMark);
  return text.empty() ? 0 : takeCodePoint(text).value;
}

/// Whether a sentence ends before `next`, as far as that says it; `isQuoted`
/// where it stands behind "[...]".
static bool mayBegin(char32_t next, bool isQuoted) {
  if (isLowercase(next))
    return false;
  return isUppercase(next) || isNumber(next) || !isQuoted;
}

std::vector<SentenceSpan> heddle::splitSentences(std::string_view text) {
  std::vector<SentenceSpan> sentences;
  takeSpaces(text);
  // The sentence so far is what stands before `rest`.
  std::string_view rest = text;
  while (!text.empty()) {
    size_t sign = rest.find_first_of(kEnds);
    if (sign == std::string_view::npos)
      break;
    bool isInside = sign > 1 && rest[sign - 1] == '[';
    rest.remove_prefix(sign);
    size_t signs = std::min(rest.find_first_not_of(kEnds), rest.size());
    std::string_view punctuation = rest.substr(0, signs);
    rest.remove_prefix(signs);
    std::string_view tail = takeTail(rest);
    bool isQuoted = isInside && punctuation == "..." && tail == "]";
    size_t size = text.size() - rest.size();
    std::string_view space = takeSpaces(rest);
    if (space.empty() || !mayBegin(firstLetter(rest), isQuoted))
      continue;
    sentences.push_back({text.substr(0, size), space});
    text = rest;
  }
  if (text.empty())
    return sentences;
  size_t size = text.find_last_not_of(kSpaces) + 1;
  sentences.push_back({text.substr(0, size), text.substr(size)});
  return sentences;
}
