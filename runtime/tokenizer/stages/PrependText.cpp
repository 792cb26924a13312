//===- PrependText.cpp - A text in front of each part ---------------------===//
//
// `Prepend` of the library tokenizers: nothing in front of an empty one.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class PrependText final : public TextStage {
public:
  explicit PrependText(std::string_view text) : text(text) {}

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      writer.insert(0, text);
      writer.keep(0, part.text.size());
      return true;
    });
  }

private:
  std::string_view text;
};
} // namespace

stages::MadeText stages::makePrependText(std::string_view table) {
  return std::unique_ptr<TextStage>(std::make_unique<PrependText>(table));
}
