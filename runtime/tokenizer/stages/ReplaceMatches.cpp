//===- ReplaceMatches.cpp - Another text for matches of a pattern ---------===//
//
// `Replace` of the library tokenizers: the text stands for itself, and has no
// references to groups.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TextPattern.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

/// Where the last character of a match begins: in the library tokenizers, what
/// takes a match's place comes from there.
static size_t lastCharacter(std::string_view text, TextPattern::Match match) {
  size_t at = match.end - 1;
  while (at > match.begin && (text[at] & 0xC0) == 0x80)
    --at;
  return at;
}

namespace {
class ReplaceMatches final : public TextStage {
public:
  ReplaceMatches(TextPattern pattern, std::string_view content)
      : pattern(pattern), content(content) {}

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      std::string_view text = part.text;
      TextPattern::Match match = pattern.find(text, 0);
      if (match.begin == text.size())
        return false;
      size_t done = 0;
      for (; match.begin < text.size(); match = pattern.find(text, done)) {
        writer.keep(done, match.begin);
        writer.replace(lastCharacter(text, match), match.end, content);
        done = match.end;
      }
      writer.keep(done, text.size());
      return true;
    });
  }

private:
  TextPattern pattern;
  std::string_view content;
};
} // namespace

stages::MadeText stages::makeReplaceMatches(std::string_view table) {
  TableReader reader(table);
  const format::ReplaceHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view rest = reader.takeRest();
  if (!reader.isWhole() || header->contentBytes > rest.size())
    return Status::error("does not say what matches become");
  size_t patternBytes = rest.size() - header->contentBytes;
  Result<TextPattern> pattern =
      TextPattern::parse(rest.substr(0, patternBytes));
  if (!pattern.ok())
    return pattern.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<ReplaceMatches>(*pattern, rest.substr(patternBytes)));
}
