//===- CodePointProperties.cpp - Properties by Oniguruma's names ----------===//
//
// The tables are those of the library itself, see dump_properties.py: ICU and
// other libraries are of other versions of Unicode.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Patterns/CodePointProperties.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include <iterator>

using namespace llvm;
using namespace heddle;

namespace {
struct Property {
  const char *name;
  /// In kRanges.
  unsigned begin;
};
} // namespace

#include "lib/Import/Tokenizers/Patterns/CodePointProperties.inc"

/// The ranges of the property at this place of the table.
static CodePointSet rangesOf(const Property *property) {
  unsigned end = property + 1 == std::end(kProperties) ? std::size(kRanges) / 2
                                                       : property[1].begin;
  std::vector<CodePointSet::Range> ranges;
  for (unsigned i = property->begin; i < end; ++i)
    ranges.push_back({kRanges[2 * i], kRanges[2 * i + 1]});
  return CodePointSet(std::move(ranges));
}

static const Property *findEntry(StringRef name) {
  for (const Property &property : kProperties)
    if (name == property.name)
      return &property;
  return nullptr;
}

/// Long names of general categories.
static StringRef shortName(StringRef name) {
  static constexpr std::pair<const char *, const char *> names[] = {
      {"letter", "l"},
      {"uppercaseletter", "lu"},
      {"lowercaseletter", "ll"},
      {"titlecaseletter", "lt"},
      {"modifierletter", "lm"},
      {"otherletter", "lo"},
      {"mark", "m"},
      {"nonspacingmark", "mn"},
      {"spacingmark", "mc"},
      {"enclosingmark", "me"},
      {"number", "n"},
      {"decimalnumber", "nd"},
      {"letternumber", "nl"},
      {"othernumber", "no"},
      {"punctuation", "p"},
      {"punct", "p"},
      {"connectorpunctuation", "pc"},
      {"dashpunctuation", "pd"},
      {"openpunctuation", "ps"},
      {"closepunctuation", "pe"},
      {"initialpunctuation", "pi"},
      {"finalpunctuation", "pf"},
      {"otherpunctuation", "po"},
      {"symbol", "s"},
      {"mathsymbol", "sm"},
      {"currencysymbol", "sc"},
      {"modifiersymbol", "sk"},
      {"othersymbol", "so"},
      {"separator", "z"},
      {"spaceseparator", "zs"},
      {"lineseparator", "zl"},
      {"paragraphseparator", "zp"},
      {"other", "c"},
      {"control", "cc"},
      {"format", "cf"},
      {"privateuse", "co"},
      {"unassigned", "cn"}};
  for (auto [longName, other] : names)
    if (name == longName)
      return other;
  return name;
}

static CodePointSet property(StringRef name) {
  return rangesOf(findEntry(name));
}

/// The union of all general categories that begin with this letter.
static CodePointSet categories(char letter) {
  CodePointSet group;
  for (const Property &each : kProperties) {
    StringRef category = each.name;
    if (category.size() == 2 && category[0] == letter)
      group = group.unite(rangesOf(&each));
  }
  return group;
}

static CodePointSet unassigned() {
  CodePointSet assigned(0xD800, 0xDFFF);
  for (char letter : StringRef("lmnpszc"))
    assigned = assigned.unite(categories(letter));
  return assigned.complement();
}

static CodePointSet words() {
  return property("alphabetic")
      .unite(categories('m'))
      .unite(property("nd"))
      .unite(property("pc"));
}

CodePointSet heddle::whiteSpace() { return property("whitespace"); }

CodePointSet heddle::wordCharacters() {
  // Oniguruma's table of the first 256 code points has superscripts and
  // fractions.
  return words().unite(
      CodePointSet({{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}}));
}

std::optional<CodePointSet> heddle::findPosixBracket(StringRef name) {
  auto visible = [] {
    return whiteSpace()
        .unite(property("cc"))
        .unite({0xD800, 0xDFFF})
        .unite(unassigned())
        .complement();
  };
  if (name == "alpha")
    return property("alphabetic");
  if (name == "alnum")
    return property("alphabetic").unite(property("nd"));
  if (name == "ascii")
    return CodePointSet(0, 127);
  if (name == "blank")
    return property("zs").unite({'\t', '\t'});
  if (name == "cntrl")
    return property("cc");
  if (name == "digit")
    return property("nd");
  if (name == "graph")
    return visible();
  if (name == "lower")
    return property("lowercase");
  if (name == "print")
    return visible().unite(property("zs"));
  if (name == "punct")
    return categories('p').unite(categories('s'));
  if (name == "space")
    return whiteSpace();
  if (name == "upper")
    return property("uppercase");
  if (name == "word")
    return words();
  if (name == "xdigit")
    return CodePointSet({{'0', '9'}, {'A', 'F'}, {'a', 'f'}});
  return std::nullopt;
}

std::optional<CodePointSet> heddle::findCodePointProperty(StringRef given) {
  std::string plain;
  for (char character : given)
    if (character != ' ' && character != '-' && character != '_')
      plain += toLower(character);
  StringRef name = shortName(plain);
  if (const Property *entry = findEntry(name))
    return rangesOf(entry);
  if (name == "any")
    return CodePointSet::all();
  if (name == "cn")
    return unassigned();
  if (name == "lc")
    return property("lu").unite(property("ll")).unite(property("lt"));
  if (name == "c")
    return categories('c').unite(unassigned());
  if (name.size() == 1 && StringRef("lmnpsz").contains(name))
    return categories(name[0]);
  if (name == "word")
    return wordCharacters();
  return findPosixBracket(name);
}

/// The members of a group, which zeros end.
static ArrayRef<char32_t> membersOf(const char32_t (&group)[4]) {
  size_t count = 0;
  while (count < 4 && group[count])
    ++count;
  return {group, count};
}

CodePointSet heddle::foldCase(const CodePointSet &set) {
  std::vector<CodePointSet::Range> ranges = set.sorted();
  for (const auto &group : kFolds)
    if (any_of(membersOf(group),
               [&](char32_t point) { return set.contains(point); }))
      for (char32_t point : membersOf(group))
        ranges.push_back({point, point});
  return CodePointSet(std::move(ranges));
}

bool heddle::foldsToSeveral(const CodePointSet &set) {
  return any_of(kSeveral,
                [&](const auto &entry) { return set.contains(entry[0]); });
}

bool heddle::isFoldOfOne(char32_t first, char32_t second) {
  CodePointSet left = foldCase({first, first}),
               right = foldCase({second, second});
  for (const auto &entry : kSeveral) {
    ArrayRef<char32_t> fold = membersOf(entry).drop_front();
    for (size_t i = 0; i + 1 < fold.size(); ++i)
      if (left.contains(fold[i]) && right.contains(fold[i + 1]))
        return true;
  }
  return false;
}
