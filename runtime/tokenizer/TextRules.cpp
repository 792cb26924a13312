//===- TextRules.cpp - What characters become -----------------------------===//
//
// The order of the steps is that of SentencePiece's Normalizer::Normalize, on
// which ids depend where rules make or remove spaces.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextRules.h"
#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/SpaceMark.h"
#include "runtime/tokenizer/TextClusters.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/Utf8.h"

using namespace heddle;

std::string_view heddle::takeCharacter(std::string_view &text) {
  std::string_view rest = text;
  CodePoint point = takeCodePoint(rest);
  if (point.value != kReplacementCharacter || point.bytes == kReplacementText) {
    text = rest;
    return point.bytes;
  }
  text.remove_prefix(1);
  return kReplacementText;
}

Result<TextRules> TextRules::take(std::string_view &bytes) {
  TextRules rules;
  TableReader reader(bytes);
  const format::RulesHeader *header = nullptr;
  const uint32_t *units = nullptr, *symbolUnits = nullptr;
  reader.take(header, 1);
  if (reader.isWhole()) {
    reader.take(units, header->unitCount);
    reader.take(symbolUnits, header->symbolUnits);
    rules.replacements = reader.takeBytes(header->replacementBytes);
  }
  bytes = reader.takeRest();
  if (!reader.isWhole() ||
      (!rules.replacements.empty() && rules.replacements.back() != '\0'))
    return Status::error("is not a whole table of rules");
  rules.flags = header->flags;
  rules.rules = DoubleArray(units, header->unitCount);
  rules.symbols = DoubleArray(symbolUnits, header->symbolUnits);
  return rules;
}

//===----------------------------------------------------------------------===//
// As SentencePiece
//===----------------------------------------------------------------------===//

std::string_view TextRules::takePrefix(std::string_view &text) const {
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

void TextRules::normalize(const TextPart &part, TextWriter &writer) const {
  const bool removesSpaces = flags & format::kRemovesSpaces;
  const std::string_view space =
      flags & format::kMarksSpaces ? kSpaceMark : std::string_view(" ");
  std::string_view text = part.text;
  if (removesSpaces)
    for (std::string_view rest = text;
         !rest.empty() && takePrefix(rest) == " ";)
      text = rest;
  if (text.empty())
    return;

  const size_t whole = part.text.size();
  auto place = [&] { return whole - text.size(); };
  const bool addsSpace = flags & format::kAddsSpace,
             addsItBehind = flags & format::kAddsItBehind;
  if (addsSpace && !addsItBehind)
    writer.insert(place(), space);
  bool isBehindSpace = removesSpaces;
  while (!text.empty()) {
    size_t from = place();
    std::string_view piece = takePrefix(text);
    while (isBehindSpace && !piece.empty() && piece.front() == ' ')
      piece.remove_prefix(1);
    if (piece.empty())
      continue;
    isBehindSpace = removesSpaces && piece.back() == ' ';
    for (size_t at; (at = piece.find(' ')) != std::string_view::npos;) {
      writer.replace(from, place(), piece.substr(0, at));
      writer.replace(from, place(), space);
      piece.remove_prefix(at + 1);
    }
    writer.replace(from, place(), piece);
  }
  if (removesSpaces)
    while (endsWith(writer.written(), space))
      writer.shorten(writer.written().size() - space.size());
  if (addsSpace && addsItBehind)
    writer.insert(whole - 1, space);
}

//===----------------------------------------------------------------------===//
// As the library tokenizers
//===----------------------------------------------------------------------===//

namespace {
/// A character of normalised text as the library notes it (NormalizedString,
/// transform_range): 1 if it is more than there was before, else it takes the
/// place of the next character, and of as many behind it as this is below 0.
struct Change {
  uint32_t bytes;
  int32_t change;
};

/// Writes what becomes of clusters. Where bytes came from is what the library
/// makes of its notes, even where they are off: characters that are removed
/// behind none are not noted, and behind one that was added they make it take
/// the place of the next one.
class ClusterWriter {
public:
  ClusterWriter(const TextPart &part, TextWriter &writer)
      : part(part), writer(writer) {}

  void keep(size_t from, size_t to) {
    std::string_view kept = part.text.substr(from, to - from);
    writer.put(from, kept);
    if (writer.isTracking())
      note(kept);
  }
  void replace(size_t from, size_t to, std::string_view made) {
    writer.put(from, made);
    if (!writer.isTracking())
      return;
    size_t before = changes.size();
    note(made);
    auto added = int32_t(changes.size() - before);
    for (std::string_view rest = part.text.substr(from, to - from);
         !rest.empty(); takeCharacter(rest))
      --added;
    for (int32_t i = 0; i < added; ++i)
      changes[changes.size() - 1 - size_t(i)].change = 1;
    if (added < 0 && !changes.empty())
      changes.back().change += added;
  }
  void finish();

private:
  void note(std::string_view text) {
    while (!text.empty())
      changes.push_back({uint32_t(takeCharacter(text).size()), 0});
  }

  const TextPart &part;
  TextWriter &writer;
  std::vector<Change> changes;
};
} // namespace

void ClusterWriter::finish() {
  if (!writer.isTracking())
    return;
  std::vector<TextRange> origins;
  origins.reserve(writer.written().size());
  std::string_view rest = part.text;
  for (auto [bytes, change] : changes) {
    size_t done = part.text.size() - rest.size();
    TextRange origin;
    if (change <= 0 && !rest.empty())
      origin = part.originOf(done, done + takeCharacter(rest).size());
    else if (done)
      origin = part.originOf(done - 1, done);
    origins.insert(origins.end(), bytes, origin);
    for (; change < 0 && !rest.empty(); ++change)
      takeCharacter(rest);
  }
  writer.setOrigins(std::move(origins));
}

bool TextRules::replaceClusters(const TextPart &part,
                                TextWriter &writer) const {
  if (!rules.hasKeys())
    return false;
  const std::string_view text = part.text;
  ClusterWriter clusters(part, writer);
  size_t done = 0;
  // What a rule makes of a part takes its place, if there is a rule.
  auto replace = [&](size_t begin, size_t end) {
    DoubleArray::Match rule =
        rules.shortestPrefix(text.substr(begin, end - begin));
    if (!rule.length || size_t(rule.value) >= replacements.size())
      return false;
    clusters.keep(done, begin);
    clusters.replace(begin, end, replacements.data() + rule.value);
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
  if (!done)
    return false;
  clusters.keep(done, text.size());
  clusters.finish();
  return true;
}
