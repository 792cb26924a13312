//===- ReplaceClusters.cpp - Precompiled of the library tokenizers --------===//
//
// The rules are those of a SentencePiece model, but clusters of characters
// decide which one matches; TextRules.cpp has the steps.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextRules.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class ReplaceClusters final : public TextStage {
public:
  explicit ReplaceClusters(const TextRules &rules) : rules(rules) {}

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      return rules.replaceClusters(part, writer);
    });
  }

private:
  TextRules rules;
};
} // namespace

stages::MadeText stages::makeReplaceClusters(std::string_view table) {
  Result<TextRules> rules = TextRules::take(table);
  if (!rules.ok())
    return rules.status();
  return std::unique_ptr<TextStage>(std::make_unique<ReplaceClusters>(*rules));
}
