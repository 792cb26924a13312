//===- OpenNMTVocabulary.cpp - The tokens of a checkpoint -----------------===//
//
// Release 2 keeps a TextMultiField for each side: `fields` lists pairs of a
// name and a Field, one for the words and one for each feature; `vocab` of a
// Field is a Vocab, whose `itos` lists the tokens. Before, the whole was a list
// of pairs of a side's name and a Vocab.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/OpenNMT/OpenNMTVocabulary.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace heddle {

using Kind = PickleValue::Kind;

std::optional<int64_t> findToken(ArrayRef<std::string> tokens,
                                 StringRef token) {
  auto found = llvm::find(tokens, token);
  if (found == tokens.end())
    return std::nullopt;
  return found - tokens.begin();
}

/// An attribute of an object; null for none.
static const PickleValue *attributeOf(const PickleValue *value,
                                      StringRef name) {
  return value && value->state ? value->state->find(name) : nullptr;
}

/// The second of a pair of a name and something; null for none.
static const PickleValue *namedBy(const PickleValue &pair) {
  return pair.kind == Kind::Tuple && pair.items.size() == 2 ? pair.items[1]
                                                            : nullptr;
}

/// The list of tokens of an object of torchtext; null for none.
static const PickleValue *findList(const PickleValue &side) {
  const PickleValue *field = &side;
  if (const PickleValue *fields = attributeOf(&side, "fields"))
    field = fields->items.empty() ? nullptr : namedBy(*fields->items.front());
  const PickleValue *vocabulary = attributeOf(field, "vocab");
  return attributeOf(vocabulary ? vocabulary : field, "itos");
}

static Expected<std::vector<std::string>>
readTokens(const PickleValue *side, StringRef name, StringRef path) {
  const PickleValue *list =
      side && side->kind != Kind::List ? findList(*side) : side;
  std::string subject = ("'vocab' of '" + path + "'").str();
  if (!list || list->kind != Kind::List)
    return makeError(subject + " has no list of tokens '" + name + "'");
  std::vector<std::string> tokens;
  for (const PickleValue *token : list->items) {
    if (!token->isText() || !json::isUTF8(token->text))
      return makeError("token " + Twine(tokens.size()) + " of '" + name +
                       "' in " + subject + " is a " + getTypeName(*token) +
                       ", expected a text");
    tokens.push_back(token->text);
  }
  if (tokens.empty())
    return makeError(subject + " has no tokens '" + name + "'");
  return tokens;
}

Expected<OpenNMTVocabularies> readOpenNMTVocabularies(const PickleValue &root,
                                                      StringRef path) {
  const PickleValue *vocab = root.find("vocab");
  OpenNMTVocabularies result;
  const PickleValue *source = nullptr, *target = nullptr;
  if (vocab && vocab->kind == Kind::List) {
    for (const PickleValue *pair : vocab->items)
      for (auto [name, side] : {std::pair("src", &source), {"tgt", &target}})
        if (const PickleValue *named = namedBy(*pair);
            named && pair->items.front()->isText() &&
            pair->items.front()->text == name)
          *side = named;
  } else if (vocab) {
    source = vocab->find("src");
    target = vocab->find("tgt");
    if (const PickleValue *features = vocab->find("src_feats");
        features && !features->items.empty())
      return makeError("'vocab' of '" + path +
                       "' has features of source tokens, 'src_feats', which "
                       "are not supported");
    if (const PickleValue *start = vocab->find("decoder_start_token");
        start && start->isText())
      result.start = start->text;
  }
  for (const PickleValue *side : {source, target})
    if (const PickleValue *fields =
            side ? attributeOf(side, "fields") : nullptr;
        fields && fields->items.size() > 1)
      return makeError("'vocab' of '" + path +
                       "' has features of tokens beside words, which are not "
                       "supported");
  result.isOlder = source && source->kind != Kind::List;
  for (auto [name, side, tokens] : {std::tuple("src", source, &result.source),
                                    {"tgt", target, &result.target}}) {
    Expected<std::vector<std::string>> read = readTokens(side, name, path);
    if (!read)
      return read.takeError();
    *tokens = std::move(*read);
  }
  return result;
}

} // namespace heddle
