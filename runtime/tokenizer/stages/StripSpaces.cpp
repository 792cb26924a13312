//===- StripSpaces.cpp - White space at the ends of a text ----------------===//
//
// `Strip` of the library tokenizers, or str.strip() of Python, whose white
// space has four characters more: a part that is white space alone goes.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/TableReader.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class StripSpaces final : public TextStage {
public:
  explicit StripSpaces(uint32_t flags) : flags(flags) {}

  void apply(TextParts &parts) const override {
    bool isPython = flags & format::kStripsAsPython;
    parts.split([&](const TextPart &part, auto &sink) {
      size_t begin = 0, end = part.text.size();
      if (flags & format::kStripsRight)
        end = stripRight(part.text, isPython).size();
      std::string_view left = part.text.substr(0, end);
      if (flags & format::kStripsLeft)
        begin = end - stripLeft(left, isPython).size();
      sink(part.slice(begin, end));
    });
  }

private:
  uint32_t flags;
};
} // namespace

stages::MadeText stages::makeStripSpaces(std::string_view table) {
  TableReader reader(table);
  const format::EndsHeader *header = nullptr;
  reader.take(header, 1);
  if (!reader.takeRest().empty() || !reader.isWhole())
    return Status::error("does not say which ends it strips");
  return std::unique_ptr<TextStage>(
      std::make_unique<StripSpaces>(header->flags));
}
