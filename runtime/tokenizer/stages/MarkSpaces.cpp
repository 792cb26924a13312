//===- MarkSpaces.cpp - Metaspace of the library tokenizers ---------------===//
//
// Does what this pre-tokenizer does, except the cuts before marks. The model
// restarts at each mark instead.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/SpaceMark.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class MarkSpaces final : public TextStage {
public:
  void apply(TextParts &parts) const override {
    parts.rewrite([](const TextPart &part, TextWriter &writer) {
      std::string_view text = part.text;
      if (text.front() != ' ' && !startsWithMark(text, 0))
        writer.insert(0, kSpaceMark);
      size_t done = 0;
      for (size_t at; (at = text.find(' ', done)) != std::string_view::npos;
           done = at + 1) {
        writer.keep(done, at);
        writer.replace(at, at + 1, kSpaceMark);
      }
      writer.keep(done, text.size());
      return true;
    });
  }
};
} // namespace

stages::MadeText stages::makeMarkSpaces(std::string_view) {
  return std::unique_ptr<TextStage>(std::make_unique<MarkSpaces>());
}
