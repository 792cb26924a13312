//===- TextNormalizer.cpp - Text as SentencePiece cuts it -----------------===//
//
// The order of the steps is that of SentencePiece's Normalizer::Normalize, on
// which ids depend where rules make or remove spaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextNormalizer.h"
#include "runtime/tokenizer/TextClusters.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"

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
  size_t done = 0;
  // What a rule makes of a part takes its place, if there is a rule.
  auto replace = [&](size_t begin, size_t end) {
    DoubleArray::Match rule =
        rules.shortestPrefix(text.substr(begin, end - begin));
    if (!rule.length || size_t(rule.value) >= replacements.size())
      return false;
    replaced.append(text, done, begin - done)
        .append(replacements.data() + rule.value);
    done = end;
    return true;
  };
  constexpr size_t tooLong = 6;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = begin + clusterLength(text.substr(begin));
    if (end - begin < tooLong && replace(begin, end))
      continue;
    std::string_view cluster = text.substr(begin, end - begin);
    if (takeCharacter(cluster).size() == end - begin)
      continue;
    for (size_t at = begin; at < end;) {
      cluster = text.substr(at, end - at);
      size_t length = takeCharacter(cluster).size();
      replace(at, at + length);
      at += length;
    }
  }
  replaced.append(text, done, std::string_view::npos);
  return replaced;
}
