//===- AddSpace.cpp - A space in front of parts that have none ------------===//
//
// `add_prefix_space` of ByteLevel in the library tokenizers.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class AddSpace final : public TextStage {
public:
  void apply(TextParts &parts) const override {
    parts.rewrite([](const TextPart &part, TextWriter &writer) {
      if (part.text.front() == ' ')
        return false;
      writer.insert(0, " ");
      writer.keep(0, part.text.size());
      return true;
    });
  }
};
} // namespace

stages::MadeText stages::makeAddSpace(std::string_view) {
  return std::unique_ptr<TextStage>(std::make_unique<AddSpace>());
}
