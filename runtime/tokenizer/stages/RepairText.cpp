//===- RepairText.cpp - U+FFFD for what is no UTF-8 -----------------------===//
//
// Every tokenizer but SentencePiece and tables of characters begins with it:
// the stages behind it see well-formed UTF-8.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class RepairText final : public TextStage {
public:
  void apply(TextParts &parts) const override {
    parts.rewrite([](const TextPart &part, TextWriter &writer) {
      if (isUtf8(part.text))
        return false;
      for (std::string_view rest = part.text; !rest.empty();) {
        size_t from = part.text.size() - rest.size();
        CodePoint point = takeCodePoint(rest);
        size_t to = part.text.size() - rest.size();
        if (point.value == kReplacementCharacter)
          writer.replace(from, to, kReplacementText);
        else
          writer.keep(from, to);
      }
      return true;
    });
  }
};
} // namespace

stages::MadeText stages::makeRepairText(std::string_view) {
  return std::unique_ptr<TextStage>(std::make_unique<RepairText>());
}
