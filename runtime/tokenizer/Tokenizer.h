//===- Tokenizer.h - From text to ids and back ------------------*- C++ -*-===//
//
// What an artifact's tokenizer does, whatever its kind. The special tokens a
// model wants around its input are added here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Manifest.h"

#include <cstdint>
#include <limits>
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

  /// The source ids of `text`, with bos and eos if the model wants them.
  /// Empty if the text has no token of its own. Any bytes are text: what is
  /// not UTF-8 reads as an unknown character. Fails, with a sentence that
  /// begins with a verb, if the text has a piece beyond the vocabulary.
  /// `sourceLanguage` stands in place of the model's.
  Result<std::vector<int32_t>>
  encode(std::string_view text,
         std::optional<int32_t> sourceLanguage = {}) const;

  /// The target ids of a part of a target text, without bos or eos.
  Result<std::vector<int32_t>> encodeTarget(std::string_view text) const;

  /// The text of target ids, without special tokens.
  virtual std::string decode(const std::vector<int32_t> &ids) const = 0;

protected:
  explicit Tokenizer(const TokenizerDescription &description)
      : bos(description.bos), eos(description.eos),
        language(description.language) {}
  /// Its pieces may be more than the model has rows for.
  explicit Tokenizer(const Manifest &manifest) : Tokenizer(manifest.tokenizer) {
    sourceCount = manifest.sourceVocabulary;
    targetCount = manifest.targetVocabulary;
  }

  /// The ids of `text` alone.
  virtual Result<std::vector<int32_t>> pieces(std::string_view text) const = 0;
  /// The same of a target text; the default is for one vocabulary.
  virtual Result<std::vector<int32_t>>
  targetPieces(std::string_view text) const {
    return pieces(text);
  }
  /// What an error calls a piece.
  virtual std::string_view nameOf(int32_t) const { return {}; }

private:
  Result<std::vector<int32_t>> check(Result<std::vector<int32_t>> ids,
                                     std::string_view side,
                                     int32_t count) const;

  std::optional<int32_t> bos;
  std::optional<int32_t> eos;
  std::optional<int32_t> language;
  int32_t sourceCount = std::numeric_limits<int32_t>::max();
  int32_t targetCount = std::numeric_limits<int32_t>::max();
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
/// in transformers' MarianTokenizer. Of folders of transformers the tokens of
/// the section tokenizer.added, `</s>` among them, become their ids. The
/// artifact must stay.
Result<std::unique_ptr<Tokenizer>>
makeSentencePieceTokenizer(const Artifact &artifact, const Manifest &manifest);

/// The sections of byte pairs, which must stay: tokenizer.pairs; and of these,
/// where they are not empty, tokenizer.pattern, whose matches are words, as are
/// the texts between them, and tokenizer.added, tokens that are found in a text
/// as a whole, such as `<mask>`.
struct ByteLevelSections {
  std::string_view pairs, pattern, added;
};

/// Byte pairs over words, as GPT-2, BART and Llama 3 have them.
Result<std::unique_ptr<Tokenizer>>
makeByteLevelTokenizer(const ByteLevelSections &sections,
                       const Manifest &manifest);

/// transformers' clean_up_tokenization: spaces in front of English punctuation
/// are taken back, one rule after the other.
std::string cleanUpSpaces(std::string text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
