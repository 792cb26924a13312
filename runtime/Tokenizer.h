//===- Tokenizer.h - From text to ids and back ------------------*- C++ -*-===//
//
// What an artifact's tokenizer does, whatever its kind. The special tokens a
// model wants around its input are added here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_H

#include "runtime/Artifact.h"
#include "runtime/Manifest.h"
#include "runtime/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Immutable; any number of threads may use it at the same time.
class Tokenizer {
public:
  virtual ~Tokenizer();

  /// The source ids of `text`, with bos and eos where the model wants them.
  /// Empty where the text has no token of its own. Any bytes are text: what is
  /// not UTF-8 reads as an unknown character.
  Result<std::vector<int32_t>> encode(std::string_view text) const;

  /// The target ids of a part of a target text, without bos or eos.
  Result<std::vector<int32_t>> encodeTarget(std::string_view text) const {
    return targetPieces(text);
  }

  /// The text of target ids, without special tokens.
  virtual std::string decode(const std::vector<int32_t> &ids) const = 0;

protected:
  explicit Tokenizer(const TokenizerDescription &description)
      : bos(description.bos), eos(description.eos),
        language(description.language) {}

  /// The ids of `text` alone.
  virtual Result<std::vector<int32_t>> pieces(std::string_view text) const = 0;
  /// The same of a target text; the default is for one vocabulary.
  virtual Result<std::vector<int32_t>>
  targetPieces(std::string_view text) const {
    return pieces(text);
  }

private:
  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> language;
};

/// The tokenizer that the manifest describes; null for kind "none".
Result<std::unique_ptr<Tokenizer>> makeTokenizer(const Artifact &artifact,
                                                 const Manifest &manifest);

/// Ids are indices into strings of characters, one for source and one for
/// target. The character at the unknown id is a filler that stands for no
/// character: it is never read from text nor written to it.
std::unique_ptr<Tokenizer>
makeCharacterTokenizer(const TokenizerDescription &description);

/// SentencePiece, its pieces numbered by the model itself or by the section
/// tokenizer.vocabulary: then a leading `>>code<<` of the text is one piece, as
/// in transformers' MarianTokenizer; or by the model plus an offset, as in
/// those of mBART and Pegasus. The artifact must stay.
Result<std::unique_ptr<Tokenizer>>
makeSentencePieceTokenizer(const Artifact &artifact, const Manifest &manifest);

/// Byte pairs over GPT-2's words, as BART has them: pieces and merges stand in
/// `section`, "tokenizer.pairs", which must stay. Added tokens in the text,
/// such as `<mask>`, become their ids.
Result<std::unique_ptr<Tokenizer>>
makeByteLevelTokenizer(std::string_view section, const Manifest &manifest);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_H
