//===- TextNormalizer.cpp - Text as SentencePiece cuts it -----------------===//
//
// The order of the steps is that of SentencePiece's Normalizer::Normalize, on
// which ids depend where rules make or remove spaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/TextNormalizer.h"
#include "runtime/TextClusters.h"
#include "runtime/TokenizerFormat.h"
#include "runtime/Utf8.h"

using namespace heddle;

std::string_view heddle::takeCharacter(std::string_view &text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string_view rest = text;
  CodePoint point = takeCodePoint(rest);
  if (point.value != kReplacementCharacter || point.bytes == replacement) {
    text = rest;
    return point.bytes;
  }
  text.remove_prefix(1);
  return replacement;
}

std::string_view TextNormalizer::takePrefix(std::string_view &text) const {
  auto take = [&](size_t length) {
    std::string_view taken = text.substr(0, length);
    text.remove_prefix(length);
    return taken;
  };
  if (symbols.hasKeys())
    if (size_t length = symbols.longestPrefix(text).length)
      return take(length);
  if (DoubleArray::Match rule = rules.longestPrefix(text);
      rule.length && size_t(rule.value) < replacements.size()) {
    take(rule.length);
    return replacements.data() + rule.value;
  }
  return takeCharacter(text);
}

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

std::string TextNormalizer::normalize(std::string_view text) const {
  const bool removesSpaces = flags & format::kRemovesSpaces;
  const std::string_view space =
      flags & format::kMarksSpaces ? kSpaceMark : std::string_view(" ");
  if (removesSpaces)
    for (std::string_view rest = text;
         !rest.empty() && takePrefix(rest) == " ";)
      text = rest;
  std::string normalized;
  if (text.empty())
    return normalized;

  normalized.reserve(text.size() + text.size() / 2 + 2 * space.size());
  const bool addsSpace = flags & format::kAddsSpace,
             addsItBehind = flags & format::kAddsItBehind;
  if (addsSpace && !addsItBehind)
    normalized += space;
  bool isBehindSpace = removesSpaces;
  while (!text.empty()) {
    std::string_view piece = takePrefix(text);
    while (isBehindSpace && !piece.empty() && piece.front() == ' ')
      piece.remove_prefix(1);
    if (piece.empty())
      continue;
    for (char byte : piece)
      if (byte == ' ')
        normalized += space;
      else
        normalized += byte;
    isBehindSpace = removesSpaces && piece.back() == ' ';
  }
  if (removesSpaces)
    while (endsWith(normalized, space))
      normalized.resize(normalized.size() - space.size());
  if (addsSpace && addsItBehind)
    normalized += space;
  return normalized;
}

std::string TextNormalizer::replaceClusters(std::string_view text) const {
  if (!rules.hasKeys())
    return std::string(text);
  std::string replaced;
  replaced.reserve(text.size() + text.size() / 2);
  // Appends what a rule makes of a part; false, and nothing, without a rule.
  auto replace = [&](std::string_view part) {
    DoubleArray::Match rule = rules.shortestPrefix(part);
    bool isFound = rule.length && size_t(rule.value) < replacements.size();
    if (isFound)
      replaced += replacements.data() + rule.value;
    return isFound;
  };
  constexpr size_t tooLong = 6;
  while (!text.empty()) {
    std::string_view cluster = takeCluster(text);
    if (cluster.size() < tooLong && replace(cluster))
      continue;
    while (!cluster.empty()) {
      std::string_view character = takeCharacter(cluster);
      if (!replace(character))
        replaced += character;
    }
  }
  return replaced;
}
