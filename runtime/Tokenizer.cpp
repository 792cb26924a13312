//===- Tokenizer.cpp - From text to ids and back --------------------------===//
//
// The common frame of all tokenizers, and the choice among them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer.h"

using namespace heddle;

Tokenizer::~Tokenizer() = default;

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text) const {
  Result<std::vector<int32_t>> ids = pieces(text);
  if (!ids.ok() || ids->empty())
    return ids;
  if (bos)
    ids->insert(ids->begin(), *bos);
  if (eos)
    ids->push_back(*eos);
  return ids;
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
    if (std::optional<std::string_view> section =
            artifact.section("tokenizer.pairs"))
      return makeByteLevelTokenizer(*section, manifest);
    return Status::error("'", artifact.path(), "' has no section ",
                         "'tokenizer.pairs', which its tokenizer needs");
  }
  return std::unique_ptr<Tokenizer>();
}
