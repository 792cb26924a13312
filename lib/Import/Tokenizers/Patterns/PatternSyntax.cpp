//===- PatternSyntax.cpp - Reads a regular expression ---------------------===//
//
// A parser by recursive descent. The first failure is kept, and everything
// behind it reads as the end of the pattern.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/PatternSyntax.h"
#include "lib/Import/Tokenizers/Patterns/CodePointClass.h"
#include "lib/Import/Tokenizers/Patterns/CodePointProperties.h"
#include "lib/Import/Tokenizers/Patterns/PatternCursor.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

using Kind = PatternNode::Kind;

static constexpr unsigned kMostRepeats = 1000, kDeepestNesting = 100;

Error refusePattern(StringRef pattern, size_t place, const Twine &what) {
  return makeError("the pattern '" + pattern + "' has " + what + " at offset " +
                   Twine(place));
}

namespace {
class Parser {
public:
  explicit Parser(PatternCursor &cursor) : cursor(cursor) {}

  PatternNode parseChoice();

private:
  PatternNode parseSequence();
  PatternNode parseAtom();
  PatternNode parseGroup(size_t place);
  bool readOptions(size_t place);
  PatternNode parseLook(size_t place, Kind kind, bool isNegated);
  PatternNode parseEscape(size_t place);
  PatternNode parseQuantified(PatternNode atom);
  bool readInterval(unsigned &least, unsigned &most);
  PatternNode readLiteral(char32_t point, size_t place);
  PatternNode refuse(size_t place, const Twine &what);

  PatternCursor &cursor;
  /// In the group that is read.
  bool ignoresCase = false, dotTakesAll = false;
  unsigned depth = 0;
  /// The character before, if case is ignored in it: Oniguruma joins such
  /// characters before it looks for forms of several.
  std::optional<char32_t> joined;
};
} // namespace

static PatternNode character(CodePointSet set, size_t place) {
  PatternNode node;
  node.kind = Kind::Character;
  node.set = std::move(set);
  node.place = place;
  return node;
}

static PatternNode look(Kind kind, CodePointSet set, bool atEdge,
                        size_t place) {
  PatternNode node = character(std::move(set), place);
  node.kind = kind;
  node.atEdge = atEdge;
  return node;
}

static PatternNode join(Kind kind, std::vector<PatternNode> parts,
                        size_t place) {
  if (parts.size() == 1)
    return std::move(parts.front());
  PatternNode node;
  node.kind = kind;
  node.parts = std::move(parts);
  node.place = place;
  return node;
}

PatternNode Parser::refuse(size_t place, const Twine &what) {
  cursor.fail(place, what);
  return {};
}

PatternNode Parser::parseChoice() {
  size_t place = cursor.place();
  std::vector<PatternNode> parts;
  do {
    joined.reset();
    parts.push_back(parseSequence());
  } while (cursor.take('|'));
  joined.reset();
  return join(Kind::Choice, std::move(parts), place);
}

PatternNode Parser::parseSequence() {
  size_t place = cursor.place();
  std::vector<PatternNode> parts;
  while (!cursor.atEnd() && cursor.next() != '|' && cursor.next() != ')')
    parts.push_back(parseQuantified(parseAtom()));
  return join(Kind::Sequence, std::move(parts), place);
}

PatternNode Parser::readLiteral(char32_t point, size_t place) {
  if (!ignoresCase) {
    joined.reset();
    return character({point, point}, place);
  }
  if (foldsToSeveral({point, point}) || (joined && isFoldOfOne(*joined, point)))
    return refuse(place,
                  "characters without regard to case that have a form of "
                  "several,");
  joined = point;
  return character(foldCase({point, point}), place);
}

PatternNode Parser::parseAtom() {
  size_t place = cursor.place();
  char32_t point = cursor.takeAny();
  switch (point) {
  case '(':
    return parseGroup(place);
  case '[': {
    joined.reset();
    return character(parseClass(cursor, ignoresCase), place);
  }
  case '\\':
    return parseEscape(place);
  case '.':
    joined.reset();
    return character(dotTakesAll ? CodePointSet::all()
                                 : CodePointSet('\n', '\n').complement(),
                     place);
  case '$':
    return look(Kind::Ahead, {'\n', '\n'}, /*atEdge=*/true, place);
  case '^': {
    // Behind a newline that ends the text there is no line.
    std::vector<PatternNode> line = {
        look(Kind::Behind, {'\n', '\n'}, /*atEdge=*/false, place),
        look(Kind::Ahead, CodePointSet::all(), /*atEdge=*/false, place)};
    return join(Kind::Choice,
                {look(Kind::Behind, {}, /*atEdge=*/true, place),
                 join(Kind::Sequence, std::move(line), place)},
                place);
  }
  case '*':
  case '+':
  case '?':
    return refuse(place, "a quantifier of nothing");
  default:
    return readLiteral(point, place);
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

PatternNode Parser::parseGroup(size_t place) {
  if (++depth > kDeepestNesting)
    return refuse(place, "more than " + Twine(kDeepestNesting) +
                             " groups in one another");
  bool outerCase = ignoresCase, outerDot = dotTakesAll, hasEnd = false;
  PatternNode node;
  if (!cursor.take('?'))
    node = parseChoice();
  else if (cursor.take(':'))
    node = parseChoice();
  else if (cursor.take('='))
    node = parseLook(place, Kind::Ahead, /*isNegated=*/false);
  else if (cursor.take('!'))
    node = parseLook(place, Kind::Ahead, /*isNegated=*/true);
  else if (cursor.take("<="))
    node = parseLook(place, Kind::Behind, /*isNegated=*/false);
  else if (cursor.take("<!"))
    node = parseLook(place, Kind::Behind, /*isNegated=*/true);
  else if (cursor.take('>')) {
    node = parseChoice();
    // Taking all of one class is what possessive quantifiers do.
    if (node.kind == Kind::Repeat && node.mode == PatternNode::Mode::Greedy &&
        node.parts[0].kind == Kind::Character)
      node.mode = PatternNode::Mode::Possessive;
    else if (node.kind != Kind::Character)
      node = refuse(place, "an atomic group of more than one class");
  } else if (cursor.take('#')) {
    while (!cursor.atEnd() && cursor.next() != ')')
      cursor.takeAny();
  } else if (cursor.next() == '<') {
    while (!cursor.atEnd() && cursor.takeAny() != '>')
      ;
    node = parseChoice();
  } else if (readOptions(place)) {
    node = parseChoice();
  } else {
    // They hold for all that follows in the group around them, alternatives
    // included.
    cursor.take(')');
    node = parseChoice();
    hasEnd = true;
  }
  if (!hasEnd && !cursor.take(')'))
    return refuse(place, "a group without an end");
  --depth;
  ignoresCase = outerCase;
  dotTakesAll = outerDot;
  return node;
}

/// The options of (?mi-x: ...); false for (?i), which has no text of its own.
bool Parser::readOptions(size_t place) {
  bool isOn = true;
  while (!cursor.atEnd() && cursor.next() != ')' && cursor.next() != ':') {
    char32_t option = cursor.takeAny();
    if (option == '-')
      isOn = false;
    else if (option == 'i')
      ignoresCase = isOn;
    else if (option == 'm')
      dotTakesAll = isOn;
    else if (option != 'x' || isOn)
      cursor.fail(place, "a group of an unknown kind");
  }
  return cursor.take(':');
}

/// What a look of one character accepts; false if the node is of more.
static bool addNeighbours(const PatternNode &node, PatternNode &look) {
  if (node.kind == Kind::Character) {
    look.set = look.set.unite(node.set);
    return true;
  }
  if (node.kind == look.kind) {
    look.set = look.set.unite(node.set);
    look.atEdge |= node.atEdge;
    return true;
  }
  // More of the same follows, or does not: the first one decides.
  if (node.kind == Kind::Repeat)
    return node.least == 1 && addNeighbours(node.parts[0], look);
  if (node.kind != Kind::Choice)
    return false;
  for (const PatternNode &part : node.parts)
    if (!addNeighbours(part, look))
      return false;
  return true;
}

PatternNode Parser::parseLook(size_t place, Kind kind, bool isNegated) {
  PatternNode inner = parseChoice(), node = look(kind, {}, false, place);
  if (!addNeighbours(inner, node))
    return refuse(place, "a look at more than one character");
  if (isNegated)
    return look(kind, node.set.complement(), !node.atEdge, place);
  return node;
}

//===----------------------------------------------------------------------===//
// Escapes and quantifiers
//===----------------------------------------------------------------------===//

/// \b, or \B: whether words begin or end there.
static PatternNode wordEdge(bool isEdge, size_t place) {
  CodePointSet word = wordCharacters(), other = word.complement();
  auto both = [&](bool isBehind, bool isAhead) {
    return join(Kind::Sequence,
                {look(Kind::Behind, isBehind ? word : other, !isBehind, place),
                 look(Kind::Ahead, isAhead ? word : other, !isAhead, place)},
                place);
  };
  return join(Kind::Choice, {both(false, isEdge), both(true, !isEdge)}, place);
}

PatternNode Parser::parseEscape(size_t place) {
  if (cursor.atEnd())
    return refuse(place, "an escape of nothing");
  char32_t point = cursor.next();
  if (point == 'A' || point == 'z' || point == 'b' || point == 'B') {
    cursor.takeAny();
    joined.reset();
    if (point == 'A')
      return look(Kind::Behind, {}, /*atEdge=*/true, place);
    if (point == 'z')
      return look(Kind::Ahead, {}, /*atEdge=*/true, place);
    return wordEdge(point == 'b', place);
  }
  if (std::optional<CodePointSet> set =
          parseSetEscape(cursor, place, /*inClass=*/false)) {
    joined.reset();
    return character(std::move(*set), place);
  }
  return readLiteral(parseCharacterEscape(cursor, place), place);
}

/// {n}, {n,}, {,m} or {n,m}; anything else is text.
bool Parser::readInterval(unsigned &least, unsigned &most) {
  PatternCursor ahead = cursor;
  if (!ahead.take('{'))
    return false;
  std::optional<unsigned> first = ahead.takeNumber(), second = first;
  if (ahead.take(',')) {
    second = ahead.takeNumber();
    if (!first && !second)
      return false;
    if (!second)
      second = PatternNode::kEndless;
  }
  if (!second || !ahead.take('}'))
    return false;
  least = first.value_or(0);
  most = *second;
  cursor = ahead;
  return true;
}

PatternNode Parser::parseQuantified(PatternNode atom) {
  for (;;) {
    size_t place = cursor.place();
    unsigned least = 0, most = PatternNode::kEndless;
    bool isInterval = false;
    if (cursor.take('?'))
      most = 1;
    else if (cursor.take('+'))
      least = 1;
    else if (!cursor.take('*')) {
      isInterval = readInterval(least, most);
      if (!isInterval)
        return atom;
    }
    if (atom.kind == Kind::Ahead || atom.kind == Kind::Behind)
      return refuse(place, "a quantifier of a look");
    if (least > most || least > kMostRepeats ||
        (most != PatternNode::kEndless && most > kMostRepeats))
      return refuse(place, "an interval that is empty or above " +
                               Twine(kMostRepeats));
    PatternNode node;
    node.kind = Kind::Repeat;
    node.least = least;
    node.most = most;
    node.place = place;
    if (cursor.take('?')) {
      // Ruby takes x{2}? for (x{2})?.
      if (isInterval && least == most)
        return refuse(place, "a lazy interval of one number");
      node.mode = PatternNode::Mode::Lazy;
    } else if (!isInterval && cursor.take('+')) {
      // Behind an interval it is a quantifier of its own.
      if (atom.kind != Kind::Character)
        return refuse(place, "a possessive quantifier of more than one class");
      node.mode = PatternNode::Mode::Possessive;
    }
    node.parts.push_back(std::move(atom));
    atom = std::move(node);
    joined.reset();
  }
}

Expected<PatternNode> parsePattern(StringRef pattern) {
  PatternCursor cursor(pattern);
  PatternNode node = Parser(cursor).parseChoice();
  if (!cursor.failed() && !cursor.atEnd())
    cursor.fail(cursor.place(), "a bracket that nothing opens");
  if (cursor.failed())
    return refusePattern(pattern, cursor.failurePlace(), cursor.failure());
  return node;
}

PatternNode patternOfText(StringRef text) {
  PatternCursor cursor(text);
  std::vector<PatternNode> parts;
  while (!cursor.atEnd()) {
    size_t place = cursor.place();
    char32_t point = cursor.takeAny();
    parts.push_back(character({point, point}, place));
  }
  return join(Kind::Sequence, std::move(parts), 0);
}

} // namespace heddle
