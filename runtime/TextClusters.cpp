//===- TextClusters.cpp - What a reader sees as one character -------------===//
//
// The rules are those of Unicode's annex 29, from GB3 to GB13. Nearly all text
// consists of characters that join none of their neighbours: of them a few
// ranges are known here, so that their roles are not looked up.
//
//===----------------------------------------------------------------------===//

#include "runtime/TextClusters.h"
#include "runtime/UnicodeTables.h"
#include "runtime/Utf8.h"

using namespace heddle;

/// Latin, Greek, Cyrillic, kana and Han characters, and signs among them, two
/// of which are one cluster only as "\r\n"; a Hangul syllable neither joins
/// one of these nor another syllable.
static bool isAlone(char32_t c) {
  return c < 0x300 || (c >= 0x370 && c < 0x483) ||
         (c >= 0x309B && c < 0xA66F) || (c >= 0xAC00 && c < 0xD7A4);
}

namespace {
/// A cluster in the making.
class Cluster {
public:
  explicit Cluster(char32_t first) { add(first, clusterRoleOf(first)); }

  /// Whether the cluster goes on with a character, which it then takes.
  bool take(char32_t next) {
    ClusterRole role = clusterRoleOf(next);
    if (!joins(next, role))
      return false;
    add(next, role);
    return true;
  }

private:
  using Role = ClusterRole;

  bool joins(char32_t next, Role role) const {
    if (last == Role::Control || role == Role::Control)
      return character == '\r' && next == '\n';
    bool isExtended = role == Role::Extend || role == Role::SpacingMark;
    if (isExtended || last == Role::Prepend)
      return true;
    switch (last) {
    case Role::HangulLead:
      return role == Role::HangulLead || role == Role::HangulVowel ||
             role == Role::HangulOpen || role == Role::HangulClosed;
    case Role::HangulOpen:
    case Role::HangulVowel:
      return role == Role::HangulVowel || role == Role::HangulTail;
    case Role::HangulClosed:
    case Role::HangulTail:
      return role == Role::HangulTail;
    case Role::Flag:
      return role == Role::Flag && isOddFlag;
    default:
      return (isPictographJoined && isPictograph(next)) ||
             (isConjunctLinked && isConjunctConsonant(next));
    }
  }

  void add(char32_t next, Role role) {
    bool isExtend = role == Role::Extend;
    constexpr char32_t joiner = 0x200D;
    isPictographJoined = next == joiner && isPictographic;
    isPictographic = isPictograph(next) || (isPictographic && isExtend);
    isConjunctLinked = isConjunct && (isConjunctLinker(next) ||
                                      (isConjunctLinked && isExtend));
    isConjunct = isConjunctConsonant(next) || (isConjunct && isExtend);
    isOddFlag = role == Role::Flag && !(last == Role::Flag && isOddFlag);
    character = next;
    last = role;
  }

  char32_t character = 0;
  Role last = Role::Other;
  /// Whether it ends with a pictograph and what extends it, or a joiner behind
  /// that.
  bool isPictographic = false, isPictographJoined = false;
  /// The same of a consonant that makes conjuncts, and a linker.
  bool isConjunct = false, isConjunctLinked = false;
  bool isOddFlag = false;
};
} // namespace

std::string_view heddle::takeCluster(std::string_view &text) {
  std::string_view rest = text;
  const char32_t first = takeCodePoint(rest).value;
  auto end = [&] {
    std::string_view cluster = text.substr(0, text.size() - rest.size());
    text = rest;
    return cluster;
  };
  if (rest.empty())
    return end();
  std::string_view next = rest;
  char32_t second = takeCodePoint(next).value;
  if (isAlone(first) && isAlone(second)) {
    if (first == '\r' && second == '\n')
      rest = next;
    return end();
  }
  Cluster cluster(first);
  while (cluster.take(second)) {
    rest = next;
    if (rest.empty())
      break;
    second = takeCodePoint(next).value;
  }
  return end();
}
