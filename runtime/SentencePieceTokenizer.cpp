//===- SentencePieceTokenizer.cpp - SentencePiece, as it stands -----------===//
//
// Segmentation and joining are the library's; this file numbers the pieces.
// Marian's own models use the numbers of the SentencePiece model. The Marian
// models of Hugging Face number the pieces of two SentencePiece models by one
// vocabulary, in which `>>code<<`, the language to translate into, is a piece
// that no SentencePiece model knows.
//
//===----------------------------------------------------------------------===//

#include "runtime/Tokenizer.h"

#include <nlohmann/json.hpp>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <unordered_map>

using namespace heddle;
using nlohmann::json;
using sentencepiece::SentencePieceProcessor;

/// U+2581, which SentencePiece writes for a space.
static constexpr std::string_view kSpacePiece = "\xE2\x96\x81";

namespace {

class SentencePieceTokenizer final : public Tokenizer {
public:
  SentencePieceTokenizer(const TokenizerDescription &description)
      : Tokenizer(std::nullopt, description.eos), unknown(description.unknown),
        special(description.special) {
    std::sort(special.begin(), special.end());
  }

  Status load(const Artifact &artifact, const Manifest &manifest);

  std::string decode(const std::vector<int32_t> &ids) const override;

private:
  Result<std::vector<int32_t>> pieces(std::string_view text) const override;
  Result<std::vector<int32_t>>
  targetPieces(std::string_view text) const override;
  Result<std::vector<int32_t>> read(std::string_view text,
                                    const SentencePieceProcessor &model) const;

  Status loadModel(const Artifact &artifact, const std::string &name,
                   SentencePieceProcessor &model);
  Status loadVocabulary(std::string_view text, int32_t size);
  int32_t idOf(const std::string &piece) const;

  int32_t unknown;
  std::vector<int32_t> special;
  SentencePieceProcessor source;
  SentencePieceProcessor separateTarget;
  SentencePieceProcessor *target = &source;
  /// With a vocabulary of its own: the piece of each id, and its inverse.
  std::vector<std::string> vocabulary;
  std::unordered_map<std::string, int32_t> ids;
};

} // namespace

Status SentencePieceTokenizer::loadModel(const Artifact &artifact,
                                         const std::string &name,
                                         SentencePieceProcessor &model) {
  std::optional<std::string_view> bytes = artifact.section(name);
  if (!bytes)
    return Status::error("'", artifact.path(), "' has no section '", name,
                         "', which its tokenizer needs");
  if (!model.LoadFromSerializedProto(*bytes).ok())
    return Status::error("'", artifact.path(), "' has a section '", name,
                         "' that is not a SentencePiece model");
  return Status::success();
}

Status SentencePieceTokenizer::loadVocabulary(std::string_view text,
                                              int32_t size) {
  json document = json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  if (!document.is_array())
    return Status::error("section 'tokenizer.vocabulary' is not a JSON array");
  if (document.size() > size_t(size))
    return Status::error("section 'tokenizer.vocabulary' has ", document.size(),
                         " pieces but the vocabulary has ", size);
  for (const json &piece : document) {
    if (!piece.is_string())
      return Status::error("section 'tokenizer.vocabulary' has ",
                           piece.type_name(), " at id ", vocabulary.size(),
                           ", expected a string");
    vocabulary.push_back(piece.get<std::string>());
    ids.emplace(vocabulary.back(), int32_t(vocabulary.size() - 1));
  }
  return Status::success();
}

Status SentencePieceTokenizer::load(const Artifact &artifact,
                                    const Manifest &manifest) {
  if (Status status = loadModel(artifact, "tokenizer.source", source);
      !status.ok())
    return status;
  if (artifact.section("tokenizer.target")) {
    if (Status status = loadModel(artifact, "tokenizer.target", separateTarget);
        !status.ok())
      return status;
    target = &separateTarget;
  }
  if (std::optional<std::string_view> text =
          artifact.section("tokenizer.vocabulary"))
    return loadVocabulary(
        *text, std::min(manifest.sourceVocabulary, manifest.targetVocabulary));
  // Every id of the model is an index into the embedding.
  if (source.GetPieceSize() > manifest.sourceVocabulary)
    return Status::error(
        "section 'tokenizer.source' has ", source.GetPieceSize(),
        " pieces but the source vocabulary has ", manifest.sourceVocabulary);
  return Status::success();
}

int32_t SentencePieceTokenizer::idOf(const std::string &piece) const {
  auto found = ids.find(piece);
  return found == ids.end() ? unknown : found->second;
}

/// The ids of a text by one of the models, which numbers its pieces itself
/// where there is no vocabulary.
Result<std::vector<int32_t>>
SentencePieceTokenizer::read(std::string_view text,
                             const SentencePieceProcessor &model) const {
  std::vector<int32_t> result;
  sentencepiece::util::Status status;
  if (vocabulary.empty()) {
    status = model.Encode(text, &result);
  } else {
    std::vector<std::string> segments;
    status = model.Encode(text, &segments);
    for (const std::string &segment : segments)
      result.push_back(idOf(segment));
  }
  if (!status.ok())
    return Status::error("SentencePiece cannot read the text: ",
                         status.message());
  return result;
}

Result<std::vector<int32_t>>
SentencePieceTokenizer::pieces(std::string_view text) const {
  size_t codeEnd = text.find("<<");
  if (vocabulary.empty() || text.substr(0, 2) != ">>" ||
      codeEnd == std::string_view::npos)
    return read(text, source);
  int32_t code = idOf(std::string(text.substr(0, codeEnd + 2)));
  Result<std::vector<int32_t>> result = read(text.substr(codeEnd + 2), source);
  if (result.ok())
    result->insert(result->begin(), code);
  return result;
}

Result<std::vector<int32_t>>
SentencePieceTokenizer::targetPieces(std::string_view text) const {
  return read(text, *target);
}

std::string
SentencePieceTokenizer::decode(const std::vector<int32_t> &targetIds) const {
  std::vector<int32_t> kept;
  int64_t size = vocabulary.empty() ? target->GetPieceSize()
                                    : static_cast<int64_t>(vocabulary.size());
  for (int32_t id : targetIds)
    if (id >= 0 && id < size &&
        !std::binary_search(special.begin(), special.end(), id))
      kept.push_back(id);

  std::string text;
  if (vocabulary.empty()) {
    target->Decode(kept, &text).IgnoreError(); // All ids are in range.
    return text;
  }
  std::vector<std::string> segments;
  for (int32_t id : kept)
    segments.push_back(vocabulary[id]);
  target->Decode(segments, &text).IgnoreError(); // Unknown pieces stay as text.
  // MarianTokenizer.convert_tokens_to_string: pieces that the target model
  // does not know keep their mark, and the ends are stripped.
  for (size_t at = 0; (at = text.find(kSpacePiece, at)) != std::string::npos;)
    text.replace(at, kSpacePiece.size(), " ");
  size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string::npos)
    return std::string();
  return text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1);
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeSentencePieceTokenizer(const Artifact &artifact,
                                   const Manifest &manifest) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(manifest.tokenizer);
  if (Status status = tokenizer->load(artifact, manifest); !status.ok())
    return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}
