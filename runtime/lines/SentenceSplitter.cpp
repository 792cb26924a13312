//===- SentenceSplitter.cpp - Cuts running text into sentences ------------===//
//
// One pass: all that is looked at behind a candidate is looked at once more
// when the search goes on there, and no rule looks further back than a
// character, or counts what it wants to know of the sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/SentenceSplitter.h"

#include "runtime/tokenizer/UnicodeTables.h"
#include "runtime/tokenizer/Utf8.h"

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
/// spaces and marks; 0 if there is none.
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
/// if it stands behind "[...]".
static bool mayBegin(char32_t next, bool isQuoted) {
  if (isLowercase(next))
    return false;
  return isUppercase(next) || isNumber(next) || !isQuoted;
}

//===----------------------------------------------------------------------===//
// As browsers
//===----------------------------------------------------------------------===//

static std::vector<SentenceSpan> splitAsBrowsers(std::string_view text) {
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

//===----------------------------------------------------------------------===//
// Of all scripts
//===----------------------------------------------------------------------===//

static constexpr char32_t kEllipsis = 0x2026;

static bool isAny(std::u32string_view characters, char32_t character) {
  return characters.find(character) != std::u32string_view::npos;
}

static bool isLineEnd(char32_t character) {
  return isAny(U"\n\v\f\r\u0085\u2028\u2029", character);
}

/// White space that may stand between sentences. No-break spaces hold together
/// what is of one: "M. Dupont".
static bool isBreakingSpace(char32_t character) {
  return isSpace(character) && !isAny(U"\u00A0\u2007\u202F", character);
}

/// A full stop that stands in numbers, too: of full width, and small.
static bool isPoint(char32_t character) {
  return isAny(U"\uFF0E\uFE52", character);
}

/// A comma, colon or semicolon of any script: the sentence goes on.
static bool isContinuation(char32_t character) {
  return isAny(U",:;\u055D\u060C\u061B\u1363\u1364\u1365\u3001\uFE10\uFE11"
               U"\uFE13\uFE14\uFE50\uFE51\uFE54\uFE55\uFF0C\uFF1A\uFF1B"
               U"\uFF64",
               character);
}

static char32_t firstOf(std::string_view text) {
  return text.empty() ? 0 : takeCodePoint(text).value;
}

/// Whether Japanese quotes what stands in front: "to" or "tte".
static bool isQuotative(std::string_view text) {
  static constexpr std::string_view kTo = "\xE3\x81\xA8",
                                    kTte = "\xE3\x81\xA3\xE3\x81\xA6";
  return text.substr(0, kTo.size()) == kTo ||
         text.substr(0, kTte.size()) == kTte;
}

namespace {
/// Cuts a text, one sentence after the other.
class Splitter {
public:
  explicit Splitter(std::string_view text) : text(text), rest(text) {}
  std::vector<SentenceSpan> run();

private:
  size_t at() const { return text.size() - rest.size(); }
  void skipSpaces() { takeWhile(rest, isSpace); }
  bool takeClosers(bool isWide);
  bool isEnd(size_t sign, char32_t first);
  void cut(size_t end);

  std::string_view text, rest;
  std::vector<SentenceSpan> sentences;
  /// Where the sentence begins, and where its last character but white space
  /// ends.
  size_t begin = 0, end = 0;
  /// Whether the sentence has quotation marks that open and close alike an odd
  /// number of times.
  bool inDouble = false, inSingle = false;
};
} // namespace

/// Takes what closes a sentence behind its sign, and says whether there was
/// anything. A mark that also opens closes where it was opened, or, where a
/// sign needs white space behind it, in front of that.
bool Splitter::takeClosers(bool isWide) {
  std::string_view start = rest;
  for (bool hasFootnote = false;;) {
    std::string_view next = rest;
    char32_t mark = next.empty() ? 0 : takeCodePoint(next).value;
    bool &isOpen = mark == U'"' ? inDouble : inSingle;
    if (isClosing(mark) || isFinalQuote(mark)) {
      // Closes, whatever came before.
    } else if (mark == U'"' || mark == U'\'') {
      if (isWide && !isOpen)
        break;
      isOpen = !isOpen;
    } else if (isInitialQuote(mark)) {
      std::string_view behind = next;
      takeWhile(behind, [](char32_t each) {
        return isClosing(each) || isFinalQuote(each) || isInitialQuote(each);
      });
      if (isWide || !(behind.empty() || isSpace(firstOf(behind))))
        break;
      next = behind;
    } else {
      next = rest;
      takeFootnote(next);
      if (hasFootnote || next.size() == rest.size())
        break;
      hasFootnote = true;
    }
    rest = next;
  }
  return rest.size() < start.size();
}

/// Whether the run of signs that begins with `first`, at `sign`, ends a
/// sentence: takes it and what closes behind it.
bool Splitter::isEnd(size_t sign, char32_t first) {
  bool isInside = sign > 0 && text[sign - 1] == '[';
  char32_t last = first;
  bool isWide = first >= 128;
  takeWhile(rest, [&](char32_t character) {
    if (!isSentenceEnd(character) && character != kEllipsis)
      return false;
    isWide |= character >= 128 && character != kEllipsis;
    last = character;
    return true;
  });
  std::string_view signs = text.substr(sign, at() - sign);
  size_t closers = at();
  bool isClosed = takeClosers(isWide);
  std::string_view tail = text.substr(closers, at() - closers);
  end = at();
  char32_t next = firstOf(rest);
  if (rest.empty())
    return true;
  if (isWide)
    return !isContinuation(next) && !(isPoint(last) && isNumber(next)) &&
           !(isClosed && isQuotative(rest));
  std::string_view behind = rest;
  bool breaks = false;
  takeWhile(behind, [&](char32_t character) {
    breaks |= isBreakingSpace(character);
    return isSpace(character);
  });
  bool isQuoted = isInside && signs == "..." && tail == "]";
  return breaks && (behind.empty() || mayBegin(firstLetter(behind), isQuoted));
}

/// Ends the sentence that stands in front of `end`.
void Splitter::cut(size_t end) {
  rest = text.substr(end);
  std::string_view spaces = takeWhile(rest, isSpace);
  sentences.push_back({text.substr(begin, end - begin), spaces});
  begin = this->end = at();
  inDouble = inSingle = false;
}

std::vector<SentenceSpan> Splitter::run() {
  skipSpaces();
  begin = end = at();
  while (!rest.empty()) {
    size_t place = at();
    char32_t character = takeCodePoint(rest).value;
    if (isSpace(character)) {
      if (isLineEnd(character))
        cut(end);
      continue;
    }
    inDouble ^= character == U'"';
    inSingle ^= character == U'\'';
    end = at();
    if (isSentenceEnd(character) && isEnd(place, character))
      cut(end);
  }
  if (begin < text.size())
    sentences.push_back({text.substr(begin, end - begin), text.substr(end)});
  return std::move(sentences);
}

std::vector<SentenceSpan> heddle::splitSentences(std::string_view text,
                                                 SplitRules rules) {
  return rules == SplitRules::Browser ? splitAsBrowsers(text)
                                      : Splitter(text).run();
}
