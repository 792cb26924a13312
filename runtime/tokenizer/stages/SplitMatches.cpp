//===- SplitMatches.cpp - Cuts text at the matches of a pattern -----------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class SplitMatches final : public TextStage {
public:
  SplitMatches(TextPattern pattern, bool removesMatches)
      : pattern(pattern), removesMatches(removesMatches) {}

  void apply(TextParts &parts) const override {
    parts.split([&](const TextPart &part, auto &sink) {
      for (size_t at = 0; at < part.text.size();) {
        TextPattern::Match match = pattern.find(part.text, at);
        if (at < match.begin)
          sink(part.slice(at, match.begin));
        if (!removesMatches && match.begin < match.end)
          sink(part.slice(match.begin, match.end));
        at = match.end;
      }
    });
  }

private:
  TextPattern pattern;
  bool removesMatches;
};
} // namespace

stages::MadeText stages::makeSplitMatches(std::string_view table) {
  TableReader reader(table);
  const format::SplitHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view rest = reader.takeRest();
  if (!reader.isWhole() || header->removesMatches > 1)
    return Status::error("does not say what becomes of matches");
  Result<TextPattern> pattern = TextPattern::parse(rest);
  if (!pattern.ok())
    return pattern.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<SplitMatches>(*pattern, header->removesMatches));
}
