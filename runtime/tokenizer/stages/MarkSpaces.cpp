//===- MarkSpaces.cpp - Metaspace of the library tokenizers ---------------===//
//
// Does what this pre-tokenizer does, except the cuts before marks, which are
// another stage, or a model restarts at each mark instead.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/TokenizerFormat.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class MarkSpaces final : public TextStage {
public:
  MarkSpaces(uint32_t scheme, std::string_view mark)
      : scheme(scheme), mark(mark) {}

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      std::string_view text = part.text;
      bool begins = text.front() == ' ' || text.substr(0, mark.size()) == mark;
      if (!begins && (scheme == format::kMarksAll ||
                      (scheme == format::kMarksFirst && part.begin == 0)))
        writer.insert(0, mark);
      size_t done = 0;
      for (size_t at; (at = text.find(' ', done)) != std::string_view::npos;
           done = at + 1) {
        writer.keep(done, at);
        writer.replace(at, at + 1, mark);
      }
      writer.keep(done, text.size());
      return true;
    });
  }

private:
  uint32_t scheme;
  std::string_view mark;
};
} // namespace

stages::MadeText stages::makeMarkSpaces(std::string_view table) {
  TableReader reader(table);
  const format::MarkHeader *header = nullptr;
  reader.take(header, 1);
  std::string_view mark = reader.takeRest();
  if (!reader.isWhole() || header->scheme > format::kMarksNone ||
      header->markBytes != mark.size() || mark.empty())
    return Status::error("does not say how it marks spaces");
  return std::unique_ptr<TextStage>(
      std::make_unique<MarkSpaces>(header->scheme, mark));
}
