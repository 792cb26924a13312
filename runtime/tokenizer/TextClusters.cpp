//===- TextClusters.cpp - What a reader sees as one character -------------===//
//
// The rules are those of Unicode's annex 29, from GB3 to GB13. Nearly all text
// consists of characters that join none of their neighbours, whose roles are
// not looked up.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextClusters.h"
#include "runtime/tokenizer/UnicodeTables.h"

using namespace heddle;

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
    constexpr char32_t joiner = 0x200D, nonJoiner = 0x200C;
    isPictographJoined = next == joiner && isPictographic;
    // A joiner extends, too, but not twice.
    isPictographic =
        isPictograph(next) || (isPictographic && isExtend && next != joiner);
    bool staysConjunct = isConjunct && isExtend && next != nonJoiner;
    isConjunctLinked =
        staysConjunct && (isConjunctLinked || isConjunctLinker(next));
    isConjunct = staysConjunct || isConjunctConsonant(next);
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

/// The character at a place, which then is the one behind it.
static char32_t takeCharacter(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[at + i]);
  };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t value = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i)
    value = (value << 6) | (byte(i) & 0x3F);
  at += length;
  return value;
}

size_t heddle::clusterLength(std::string_view text) {
  size_t end = 0;
  const char32_t first = takeCharacter(text, end);
  if (end == text.size())
    return end;
  size_t next = end;
  char32_t second = takeCharacter(text, next);
  if (standsAlone(first) && standsAlone(second))
    return first == '\r' && second == '\n' ? next : end;
  Cluster cluster(first);
  while (cluster.take(second)) {
    end = next;
    if (end == text.size())
      break;
    second = takeCharacter(text, next);
  }
  return end;
}
