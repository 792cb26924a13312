//===- SentencePieceTokenizer.cpp - The numbers of SentencePiece's pieces -===//
//
// SentencePieces.h cuts and joins; this file numbers the pieces. Marian's own
// models use the numbers of the SentencePiece model. The Marian models of
// Hugging Face number the pieces of two SentencePiece models by one vocabulary,
// in which `>>code<<`, the language to translate into, is a piece that no
// SentencePiece model knows.
//
//===----------------------------------------------------------------------===//

#include "runtime/SentencePieces.h"
#include "runtime/Tokenizer.h"

#include <algorithm>

using namespace heddle;

namespace {

class SentencePieceTokenizer final : public Tokenizer {
public:
  SentencePieceTokenizer(const TokenizerDescription &description)
      : Tokenizer(description), unknown(description.unknown),
        offset(description.offset), special(description.special) {
    std::sort(special.begin(), special.end());
  }

  Status load(const Artifact &artifact, const Manifest &manifest);

  std::string decode(const std::vector<int32_t> &ids) const override;

private:
  Result<std::vector<int32_t>> pieces(std::string_view text) const override;
  Result<std::vector<int32_t>>
  targetPieces(std::string_view text) const override;
  /// The ids of a text by one of the models, which numbers its pieces itself
  /// where there is no vocabulary; `numbers` are the vocabulary's for it.
  std::vector<int32_t> read(std::string_view text, const SentencePieces &model,
                            const int32_t *numbers) const;
  int32_t idOf(std::string_view piece) const;

  int32_t unknown;
  /// What ids are above those of the model.
  int32_t offset;
  std::vector<int32_t> special;
  std::optional<SentencePieces> source;
  /// Where it differs.
  std::optional<SentencePieces> target;
  std::optional<PieceNumbers> vocabulary;
};

} // namespace

static Status loadModel(const Artifact &artifact, const char *name,
                        std::optional<SentencePieces> &model) {
  std::optional<std::string_view> bytes = artifact.section(name);
  if (!bytes)
    return Status::error("'", artifact.path(), "' has no section '", name,
                         "', which its tokenizer needs");
  Result<SentencePieces> parsed = SentencePieces::parse(*bytes, name);
  if (!parsed.ok())
    return parsed.status();
  model = *parsed;
  return Status::success();
}

Status SentencePieceTokenizer::load(const Artifact &artifact,
                                    const Manifest &manifest) {
  if (Status status = loadModel(artifact, "tokenizer.source", source);
      !status.ok())
    return status;
  if (artifact.section("tokenizer.target"))
    if (Status status = loadModel(artifact, "tokenizer.target", target);
        !status.ok())
      return status;
  if (std::optional<std::string_view> section =
          artifact.section("tokenizer.vocabulary")) {
    Result<PieceNumbers> numbers = PieceNumbers::parse(
        *section,
        std::min(manifest.sourceVocabulary, manifest.targetVocabulary), *source,
        target ? *target : *source);
    if (!numbers.ok())
      return numbers.status();
    vocabulary = *numbers;
    return Status::success();
  }
  // Every id of the model is an index into the embedding.
  if (source->pieceCount() > manifest.sourceVocabulary - offset)
    return Status::error("section 'tokenizer.source' has ",
                         source->pieceCount(), " pieces from ", offset,
                         " on, but the source vocabulary has ",
                         manifest.sourceVocabulary);
  return Status::success();
}

int32_t SentencePieceTokenizer::idOf(std::string_view piece) const {
  int32_t id = vocabulary->find(piece);
  return id < 0 ? unknown : id;
}

std::vector<int32_t>
SentencePieceTokenizer::read(std::string_view text, const SentencePieces &model,
                             const int32_t *numbers) const {
  CutText cut = model.cut(text);
  std::vector<int32_t> ids;
  ids.reserve(cut.pieces.size() + 3); // What stands around them.
  for (const CutText::Piece &piece : cut.pieces) {
    bool isUnknown = piece.id == model.unknown();
    if (!vocabulary)
      ids.push_back(isUnknown && offset ? unknown : piece.id + offset);
    else if (isUnknown) // The vocabulary may know the characters.
      ids.push_back(idOf(cut.textOf(piece)));
    else
      ids.push_back(numbers[piece.id] < 0 ? unknown : numbers[piece.id]);
  }
  return ids;
}

Result<std::vector<int32_t>>
SentencePieceTokenizer::pieces(std::string_view text) const {
  const int32_t *numbers = vocabulary ? vocabulary->sourceIds() : nullptr;
  size_t codeEnd = text.find("<<");
  if (!vocabulary || text.substr(0, 2) != ">>" ||
      codeEnd == std::string_view::npos)
    return read(text, *source, numbers);
  int32_t code = idOf(text.substr(0, codeEnd + 2));
  std::vector<int32_t> ids = read(text.substr(codeEnd + 2), *source, numbers);
  ids.insert(ids.begin(), code);
  return ids;
}

Result<std::vector<int32_t>>
SentencePieceTokenizer::targetPieces(std::string_view text) const {
  return read(text, target ? *target : *source,
              vocabulary ? vocabulary->targetIds() : nullptr);
}

/// Python's str.strip, of ASCII.
static std::string strip(const std::string &text) {
  size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string::npos)
    return std::string();
  return text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1);
}

std::string
SentencePieceTokenizer::decode(const std::vector<int32_t> &targetIds) const {
  const SentencePieces &model = target ? *target : *source;
  const PieceTexts &texts = vocabulary ? vocabulary->texts() : model.texts();
  std::vector<int32_t> kept;
  for (int32_t id : targetIds)
    if (id >= offset && uint32_t(id - offset) < texts.count &&
        !std::binary_search(special.begin(), special.end(), id))
      kept.push_back(id - offset);

  std::string text = model.join(kept, texts);
  if (!vocabulary) // As transformers' tokenizers do, not Marian.
    return offset ? strip(text) : text;
  // MarianTokenizer.convert_tokens_to_string: pieces that the target model
  // does not know keep their mark, and the ends are stripped.
  for (size_t at = 0; (at = text.find(kSpaceMark, at)) != std::string::npos;)
    text.replace(at, kSpaceMark.size(), " ");
  return strip(text);
}

Result<std::unique_ptr<Tokenizer>>
heddle::makeSentencePieceTokenizer(const Artifact &artifact,
                                   const Manifest &manifest) {
  auto tokenizer = std::make_unique<SentencePieceTokenizer>(manifest.tokenizer);
  if (Status status = tokenizer->load(artifact, manifest); !status.ok())
    return status;
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}
