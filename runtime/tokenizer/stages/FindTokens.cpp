//===- FindTokens.cpp - Added tokens, as fast tokenizers find them --------===//
//
// Tokens that stand in a text as it is are found first, and those that are
// found in normalised text behind the normalizer, which has spelled them, too.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/stages/Stages.h"

using namespace heddle;

namespace {
class FindTokens final : public TextStage {
public:
  FindTokens(AddedTokens tokens, bool isNormalized)
      : tokens(std::move(tokens)), isNormalized(isNormalized) {}

  void apply(TextParts &parts) const override {
    parts.split([&](const TextPart &part, auto &sink) {
      size_t done = 0;
      for (size_t from = 0;;) {
        AddedTokens::Match match =
            tokens.find(part.text, from, done, isNormalized);
        from = match.next;
        if (!match.token)
          break;
        // An earlier token has taken the spaces that this one is.
        if (match.begin > match.end)
          continue;
        if (done < match.begin)
          sink(part.slice(done, match.begin));
        done = match.end;
        // So it has here, or the token is nothing and cuts alone.
        if (match.begin == match.end)
          continue;
        TextPart found = part.slice(match.begin, match.end);
        found.id = match.token->id;
        sink(found);
      }
      sink(done ? part.slice(done, part.text.size()) : part);
    });
  }

private:
  AddedTokens tokens;
  bool isNormalized;
};
} // namespace

static stages::MadeText make(Result<AddedTokens> tokens, bool isNormalized) {
  if (!tokens.ok())
    return tokens.status();
  return std::unique_ptr<TextStage>(
      std::make_unique<FindTokens>(std::move(*tokens), isNormalized));
}

stages::MadeText stages::makeFindTokens(std::string_view table) {
  return make(AddedTokens::parse(table), /*isNormalized=*/false);
}

/// What stages make of a text.
static std::string spell(std::string_view text,
                         const std::vector<const TextStage *> &by) {
  TextParts parts(text, /*tracks=*/false);
  for (const TextStage *stage : by)
    stage->apply(parts);
  std::string spelled;
  for (const TextPart &part : parts.all())
    spelled += part.text;
  return spelled;
}

stages::MadeText
stages::makeFindNormalizedTokens(std::string_view table,
                                 const std::vector<const TextStage *> &before) {
  Result<AddedTokens> tokens = AddedTokens::parse(table);
  if (tokens.ok())
    tokens->spell([&](std::string_view text) { return spell(text, before); });
  return make(std::move(tokens), /*isNormalized=*/true);
}
