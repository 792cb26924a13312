//===- SplitMatches.cpp - Cuts text at the matches of a pattern -----------===//
//
// The behaviors are those of Split in the library tokenizers
// (NormalizedString::split). Texts between matches are parts, as well.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class SplitMatches final : public TextStage {
public:
  SplitMatches(TextPattern pattern, const format::SplitHeader &header)
      : pattern(pattern), behavior(header.behavior), inverts(header.inverts) {}

  void apply(TextParts &parts) const override {
    parts.split([&](const TextPart &part, auto &sink) {
      if (behavior <= format::kRemoves)
        return forEach(part.text, [&](size_t from, size_t to, bool isMatch) {
          if (!isMatch || behavior == format::kIsolates)
            sink(part.slice(from, to));
        });
      for (auto [begin, end] : mergedParts(part.text))
        sink(part.slice(begin, end));
    });
  }

private:
  /// body(from, to, whether it is a match) for all of a text.
  template <typename Body>
  void forEach(std::string_view text, Body body) const {
    for (size_t at = 0; at < text.size();) {
      TextPattern::Match match = pattern.find(text, at);
      if (at < match.begin)
        body(at, match.begin, inverts);
      if (match.begin < match.end)
        body(match.begin, match.end, !inverts);
      at = match.end;
    }
  }
  std::vector<std::pair<size_t, size_t>>
  mergedParts(std::string_view text) const;

  TextPattern pattern;
  uint32_t behavior;
  bool inverts;
};
} // namespace

std::vector<std::pair<size_t, size_t>>
SplitMatches::mergedParts(std::string_view text) const {
  std::vector<std::pair<size_t, size_t>> merged;
  bool wasMatch = false;
  forEach(text, [&](size_t from, size_t to, bool isMatch) {
    bool merges = behavior == format::kJoinsMatches   ? isMatch == wasMatch
                  : behavior == format::kMergesBefore ? isMatch && !wasMatch
                                                      : !isMatch && wasMatch;
    if (merges && !merged.empty())
      merged.back().second = to;
    else
      merged.emplace_back(from, to);
    wasMatch = isMatch;
  });
  return merged;
}

stages::MadeText stages::makeSplitMatches(std::string_view table) {
  TableReader reader(table);
  const format::SplitHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view rest = reader.takeRest();
  if (!reader.isWhole() || header->behavior > format::kJoinsMatches ||
      header->inverts > 1)
    return Status::error("does not say what becomes of matches");
  Result<TextPattern> pattern = TextPattern::parse(rest);
  if (!pattern.ok())
    return pattern.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<SplitMatches>(*pattern, *header));
}
