//===- CodePointClass.cpp - Sets of characters in a pattern ---------------===//
//
// In a class `-` is a range between two characters and itself at either end;
// `&&` intersects all on its left with all on its right.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/CodePointClass.h"
#include "lib/Import/Tokenizers/Patterns/CodePointProperties.h"

using namespace llvm;

namespace heddle {

static CodePointSet negateIf(bool isNegated, CodePointSet set) {
  return isNegated ? set.complement() : set;
}

static CodePointSet findSet(std::optional<CodePointSet> (*find)(StringRef),
                            StringRef name, PatternCursor &cursor,
                            size_t place) {
  bool isNegated = name.consume_front("^");
  if (std::optional<CodePointSet> set = find(name))
    return negateIf(isNegated, std::move(*set));
  cursor.fail(place, "the unknown property '" + name + "'");
  return {};
}

std::optional<CodePointSet> parseSetEscape(PatternCursor &cursor, size_t place,
                                           bool inClass) {
  char32_t letter = cursor.next();
  bool isNegated = letter == 'S' || letter == 'D' || letter == 'W' ||
                   letter == 'H' || letter == 'P';
  CodePointSet set;
  switch (letter) {
  case 's':
  case 'S':
    set = whiteSpace();
    break;
  case 'd':
  case 'D':
    set = *findPosixBracket("digit");
    break;
  case 'w':
  case 'W':
    set = inClass ? *findPosixBracket("word") : wordCharacters();
    break;
  case 'h':
  case 'H':
    set = *findPosixBracket("xdigit");
    break;
  case 'p':
  case 'P': {
    PatternCursor ahead = cursor;
    ahead.takeAny();
    // Without braces it is a letter.
    if (!ahead.take('{'))
      return std::nullopt;
    std::optional<std::string> name = ahead.takeUntil('}');
    cursor = ahead;
    if (!name) {
      cursor.fail(place, "a property without an end");
      return CodePointSet();
    }
    return negateIf(isNegated,
                    findSet(findCodePointProperty, *name, cursor, place));
  }
  default:
    return std::nullopt;
  }
  cursor.takeAny();
  return negateIf(isNegated, std::move(set));
}

char32_t parseCharacterEscape(PatternCursor &cursor, size_t place) {
  char32_t letter = cursor.takeAny();
  auto hexadecimal = [&](unsigned least, unsigned most) -> char32_t {
    std::optional<char32_t> point = cursor.takeHexadecimal(least, most);
    if (point && *point <= CodePointSet::kLast)
      return *point;
    cursor.fail(place, "a number that is no character");
    return 0;
  };
  switch (letter) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case 'f':
    return '\f';
  case 'v':
    return '\v';
  case 'a':
    return '\a';
  case 'e':
    return 0x1B;
  case 'u':
    return hexadecimal(4, 4);
  case 'x': {
    bool hasBraces = cursor.take('{');
    char32_t point = hasBraces ? hexadecimal(1, 8) : hexadecimal(1, 2);
    if ((hasBraces && !cursor.take('}')) || (!hasBraces && point > 127))
      cursor.fail(place, "a number that is no character");
    return point;
  }
  case '0': {
    char32_t point = 0;
    for (int digit = 0; digit < 2; ++digit)
      if (cursor.next() >= '0' && cursor.next() <= '7')
        point = point * 8 + (cursor.takeAny() - '0');
    return point;
  }
  default:
    // Signs stand for themselves; letters and digits are what nothing here
    // knows, back-references among them.
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
        (letter >= '1' && letter <= '9'))
      cursor.fail(place,
                  "the unsupported escape '\\" + Twine(char(letter)) + "'");
    return letter;
  }
}

namespace {
/// One element of a class: a set, or a character that may begin a range.
struct Element {
  CodePointSet set;
  std::optional<char32_t> character;
};
} // namespace

static Element parseElement(PatternCursor &cursor, bool ignoresCase) {
  size_t place = cursor.place();
  char32_t point = cursor.takeAny();
  if (point == '[') {
    if (!cursor.take(':'))
      return {parseClass(cursor, ignoresCase), std::nullopt};
    std::optional<std::string> name = cursor.takeUntil(':');
    if (!name || !cursor.take(']')) {
      cursor.fail(place, "a POSIX bracket without an end");
      return {};
    }
    return {findSet(findPosixBracket, *name, cursor, place), std::nullopt};
  }
  if (point == '\\') {
    if (std::optional<CodePointSet> set =
            parseSetEscape(cursor, place, /*inClass=*/true))
      return {std::move(*set), std::nullopt};
    point = cursor.take('b') ? '\b' : parseCharacterEscape(cursor, place);
  }
  return {{point, point}, point};
}

CodePointSet parseClass(PatternCursor &cursor, bool ignoresCase) {
  size_t place = cursor.place();
  bool isNegated = cursor.take('^');
  CodePointSet set;
  std::optional<CodePointSet> left;
  auto intersect = [&] { return left ? left->intersect(set) : set; };
  bool isFirst = true;
  while (!cursor.take(']')) {
    if (cursor.atEnd()) {
      cursor.fail(place, "a class without an end");
      return {};
    }
    if (cursor.take("&&")) {
      left = intersect();
      set = {};
      continue;
    }
    Element element = parseElement(cursor, ignoresCase);
    PatternCursor ahead = cursor;
    if (element.character && ahead.take('-') && ahead.next() != ']' &&
        !ahead.atEnd()) {
      size_t end = ahead.place();
      Element last = parseElement(ahead, ignoresCase);
      cursor = ahead;
      if (!last.character || *last.character < *element.character)
        cursor.fail(end, "a range without an end, or one before its start,");
      else
        element.set = {*element.character, *last.character};
    }
    set = set.unite(element.set);
    isFirst = false;
  }
  if (isFirst)
    cursor.fail(place, "an empty class");
  set = intersect();
  if (ignoresCase) {
    if (!isNegated && foldsToSeveral(set))
      cursor.fail(place, "a class without regard to case with a character that "
                         "has a form of several,");
    set = foldCase(set);
  }
  return negateIf(isNegated, std::move(set));
}

} // namespace heddle
