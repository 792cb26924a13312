//===- ClassTokens.cpp - Special tokens of a tokenizer's class ------------===//
//
// What a class has by default stands in its __init__, in transformers 4.57.6.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/ClassTokens.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace heddle {

using Form = DefaultToken::Form;

static SpecialToken makeDefault(const DefaultToken &token, bool isConverted) {
  SpecialToken made{token.text.str(), std::nullopt};
  if (token.form == Form::Text ||
      (token.form == Form::ObjectIfConverted && !isConverted))
    return made;
  made.form.emplace();
  made.form->content = made.content;
  made.form->stripsLeft = token.stripsLeft;
  made.form->isNormalized = made.form->isSpecial = true;
  return made;
}

std::vector<SpecialToken> listSpecial(const TokenizerFiles &files,
                                      ArrayRef<DefaultToken> tokens,
                                      bool isKnown) {
  std::vector<SpecialToken> special;
  for (const DefaultToken &each : tokens) {
    SpecialToken byDefault{each.text.str(), std::nullopt};
    if (isKnown)
      byDefault = makeDefault(each, /*isConverted=*/!files.whole);
    else if (!files.special.count(each.field.str()))
      continue;
    if (std::optional<SpecialToken> token = files.find(each.field, byDefault))
      appendSpecial(*token, special);
  }
  appendOthers(files, special);
  return special;
}

std::string textOf(const TokenizerFiles &files, ArrayRef<DefaultToken> tokens,
                   StringRef field) {
  const DefaultToken *token = find_if(
      tokens, [&](const DefaultToken &each) { return each.field == field; });
  SpecialToken byDefault{token->text.str(), std::nullopt};
  return files.find(field, byDefault).value_or(byDefault).content;
}

json::Object buildTemplate(StringRef before, StringRef after) {
  json::Array single;
  json::Object known;
  auto add = [&](StringRef token) {
    if (token.empty())
      return;
    single.push_back(json::Object{
        {"SpecialToken", json::Object{{"id", token.str()}, {"type_id", 0}}}});
    known[token.str()] =
        json::Object{{"id", token.str()}, {"tokens", json::Array{token.str()}}};
  };
  add(before);
  single.push_back(
      json::Object{{"Sequence", json::Object{{"id", "A"}, {"type_id", 0}}}});
  add(after);
  return json::Object{{"type", "TemplateProcessing"},
                      {"single", std::move(single)},
                      {"special_tokens", std::move(known)}};
}

} // namespace heddle
