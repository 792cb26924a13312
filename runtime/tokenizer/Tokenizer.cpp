//===- Tokenizer.cpp - From text to ids and back --------------------------===//
//
// The common frame of all tokenizers, and the choice among them.
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/Tokenizer.h"

#include <utility>

using namespace heddle;

Tokenizer::~Tokenizer() = default;

Result<std::vector<int32_t>>
Tokenizer::encode(std::string_view text,
                  std::optional<int32_t> sourceLanguage) const {
  Result<std::vector<int32_t>> ids = pieces(text);
  if (!ids.ok() || ids->empty())
    return ids;
  // The language is behind the end, or else what begins a source.
  std::optional<int32_t> first = bos, last = language;
  if (sourceLanguage)
    (language ? last : first) = sourceLanguage;
  if (first)
    ids->insert(ids->begin(), *first);
  if (eos)
    ids->push_back(*eos);
  if (last)
    ids->push_back(*last);
  return check(std::move(ids), "source", sourceCount);
}

Result<std::vector<int32_t>>
Tokenizer::encodeTarget(std::string_view text) const {
  return check(targetPieces(text), "target", targetCount);
}

Result<std::vector<int32_t>> Tokenizer::check(Result<std::vector<int32_t>> ids,
                                              std::string_view side,
                                              int32_t count) const {
  if (ids.ok())
    for (int32_t id : *ids)
      if (id >= count)
        return Status::error("has the piece '", nameOf(id), "' with the id ",
                             id, ", but the model's ", side,
                             " vocabulary ends at ", count - 1);
  return ids;
}

std::string heddle::cleanUpSpaces(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},     {" !", "!"},   {" ,", ","},
      {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"},
      {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &[from, to] : kRules) {
    std::string replaced;
    size_t begin = 0;
    for (size_t at; (at = text.find(from, begin)) != std::string::npos;
         begin = at + from.size())
      replaced.append(text, begin, at - begin).append(to);
    text = replaced.append(text, begin, std::string::npos);
  }
  return text;
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeTokenizer(const Artifact &artifact, const Manifest &manifest) {
  switch (manifest.tokenizer.kind) {
  case TokenizerDescription::Kind::None:
    break;
  case TokenizerDescription::Kind::SentencePiece:
    return makeSentencePieceTokenizer(artifact, manifest);
  case TokenizerDescription::Kind::Characters:
    return makeCharacterTokenizer(manifest.tokenizer);
  case TokenizerDescription::Kind::ByteLevel:
    if (std::optional<std::string_view> pairs =
            artifact.section("tokenizer.pairs"))
      return makeByteLevelTokenizer(
          {*pairs, artifact.section("tokenizer.pattern").value_or(""),
           artifact.section("tokenizer.added").value_or("")},
          manifest);
    return Status::error("'", artifact.path(), "' has no section ",
                         "'tokenizer.pairs', which its tokenizer needs");
  }
  return std::unique_ptr<Tokenizer>();
}
