//===- ClassTokens.cpp - Special tokens of a tokenizer's class ------------===//
//
// What a class has by default stands in its __init__, in transformers 4.57.6.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
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
  made.form->isSpecial = true;
  using Normalized = DefaultToken::Normalized;
  made.form->isNormalized =
      token.normalized == Normalized::Always ||
      (token.normalized == Normalized::IfConverted && isConverted);
  return made;
}

std::vector<SpecialToken> listSpecial(const TokenizerFiles &files,
                                      ArrayRef<DefaultToken> tokens) {
  std::vector<SpecialToken> special;
  for (StringRef field : kSpecialFields) {
    const DefaultToken *known = find_if(
        tokens, [&](const DefaultToken &each) { return each.field == field; });
    SpecialToken byDefault;
    if (known != tokens.end())
      byDefault = makeDefault(*known, /*isConverted=*/!files.whole);
    if (std::optional<SpecialToken> token = files.find(field, byDefault);
        token && !token->content.empty())
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

json::Object buildTemplate(ArrayRef<ClassItem> single,
                           ArrayRef<ClassItem> pair) {
  json::Object known;
  auto build = [&](ArrayRef<ClassItem> list) {
    json::Array items;
    for (const auto &[text, type, number] : list) {
      bool isText = text == kTextA || text == kTextB;
      json::Object item{{"id", isText ? text.substr(1) : text},
                        {"type_id", type}};
      items.push_back(json::Object{
          {isText ? "Sequence" : "SpecialToken", std::move(item)}});
      if (!isText)
        known[text] = json::Object{
            {"ids", json::Array{number ? json::Value(*number) : nullptr}}};
    }
    return items;
  };
  json::Array ofOne = build(single), ofTwo = build(pair);
  return json::Object{{"type", "TemplateProcessing"},
                      {"single", std::move(ofOne)},
                      {"pair", std::move(ofTwo)},
                      {"special_tokens", std::move(known)}};
}

} // namespace heddle
