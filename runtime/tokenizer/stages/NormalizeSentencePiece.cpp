//===- NormalizeSentencePiece.cpp - Text as SentencePiece cuts it ---------===//
//
// What the rules and flags of a SentencePiece model make of a text;
// TextRules.cpp has the steps.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TextRules.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class NormalizeSentencePiece final : public TextStage {
public:
  explicit NormalizeSentencePiece(const TextRules &rules) : rules(rules) {}

  void apply(TextParts &parts) const override {
    parts.rewrite([&](const TextPart &part, TextWriter &writer) {
      rules.normalize(part, writer);
      return true;
    });
  }

private:
  TextRules rules;
};
} // namespace

stages::MadeText stages::makeNormalizeSentencePiece(std::string_view table) {
  Result<TextRules> rules = TextRules::take(table);
  if (!rules.ok())
    return rules.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<NormalizeSentencePiece>(*rules));
}
