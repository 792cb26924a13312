//===- UnicodeTables.cpp - What kind of character one is ------------------===//
//
// A table lists where membership begins and ends in turn.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/UnicodeTables.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <iterator>

namespace {
/// Every character `step` behind another one, from `first` to `last`, has a
/// small letter that is `delta` away.
struct LowercaseRun {
  char32_t first, last, step;
  int32_t delta;
};
} // namespace

#include "runtime/tokenizer/LibraryTables.inc"
#include "runtime/tokenizer/UnicodeTables.inc"

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

char32_t heddle::toLowercase(char32_t character) {
  auto next =
      std::upper_bound(std::begin(kLowercaseRuns), std::end(kLowercaseRuns),
                       character, [](char32_t value, const LowercaseRun &run) {
                         return value < run.first;
                       });
  if (next == std::begin(kLowercaseRuns))
    return character;
  const LowercaseRun &run = *(next - 1);
  bool isInside =
      character <= run.last && (character - run.first) % run.step == 0;
  return isInside ? char32_t(int32_t(character) + run.delta) : character;
}

bool heddle::isWordCharacter(char32_t character) {
  return contains(kWordCharacters, character);
}

heddle::ClusterRole heddle::clusterRoleOf(char32_t character) {
  constexpr char32_t firstSyllable = 0xAC00, lastSyllable = 0xD7A3, tails = 28;
  if (character >= firstSyllable && character <= lastSyllable)
    return (character - firstSyllable) % tails ? ClusterRole::HangulClosed
                                               : ClusterRole::HangulOpen;
  if (character >= 0x1F1E6 && character <= 0x1F1FF)
    return ClusterRole::Flag;
  if (contains(kClusterExtends, character))
    return ClusterRole::Extend;
  if (contains(kClusterSpacingMarks, character))
    return ClusterRole::SpacingMark;
  if (contains(kClusterControls, character))
    return ClusterRole::Control;
  if (contains(kClusterPrepends, character))
    return ClusterRole::Prepend;
  if (contains(kHangulLeads, character))
    return ClusterRole::HangulLead;
  if (contains(kHangulVowels, character))
    return ClusterRole::HangulVowel;
  if (contains(kHangulTails, character))
    return ClusterRole::HangulTail;
  return ClusterRole::Other;
}

namespace {
/// A bit for each character of the first two planes, made from the tables in
/// some microseconds.
struct AloneTable {
  AloneTable() {
    bits.set();
    auto clear = [&](const auto &table) {
      for (auto at = std::begin(table); at != std::end(table); at += 2)
        for (char32_t character = at[0];
             character < std::min<char32_t>(at[1], bits.size()); ++character)
          bits.reset(character);
    };
    clear(kClusterExtends);
    clear(kClusterSpacingMarks);
    clear(kClusterPrepends);
    clear(kHangulLeads);
    clear(kHangulVowels);
    clear(kHangulTails);
    constexpr char32_t flags[] = {0x1F1E6, 0x1F200};
    clear(flags);
  }

  std::bitset<0x20000> bits;
};
} // namespace

bool heddle::standsAlone(char32_t character) {
  static const AloneTable table;
  return character < table.bits.size() && table.bits[character];
}

bool heddle::isPictograph(char32_t character) {
  return contains(kPictographs, character);
}

bool heddle::isConjunctLinker(char32_t character) {
  return contains(kConjunctLinkers, character);
}

bool heddle::isConjunctConsonant(char32_t character) {
  return contains(kConjunctConsonants, character);
}
