//===- Tokenizer.h - From text to ids and back ------------------*- C++ -*-===//
//
// The stages of an artifact's tokenizer, with the special tokens that a model
// wants around its input, which are added here and nowhere else.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
#define HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/Result.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/tokenizer/TokenizerStages.h"
#include "runtime/tokenizer/Truncation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// One text, or two that a model reads together: a question and where its
/// answer may stand.
struct TextPair {
  std::string_view first;
  std::optional<std::string_view> second = {};
};

/// Immutable; any number of threads may use it at the same time.
class Tokenizer {
public:
  /// Makes the tokenizer of the manifest; null for kind "none". Its stages are
  /// in the section `tokenizer`. The artifact must outlive it.
  static Result<std::unique_ptr<Tokenizer>> make(const Artifact &artifact,
                                                 const Manifest &manifest);
  Tokenizer(TokenizerStages stages, const Manifest &manifest);

  /// The source ids of `text`, with bos and eos if the model wants them.
  /// Empty if the text has no token of its own. Any bytes are text: what is
  /// not UTF-8 reads as U+FFFD, or an unknown character. Fails, with a sentence
  /// that begins with a verb, if the text has a piece beyond the vocabulary.
  /// `sourceLanguage` stands in place of the model's.
  Result<std::vector<int32_t>>
  encode(std::string_view text,
         std::optional<int32_t> sourceLanguage = {}) const;

  /// What a model reads of texts: one window, without `truncation`, else the
  /// windows that it cuts. A text may be empty. The tokens' ranges are of use
  /// if `tracks`. Fails as above, or if there is no room for a window.
  Result<std::vector<TextEncoding>>
  encodeWindows(const TextPair &texts,
                const std::optional<Truncation> &truncation, bool tracks) const;

  /// What is read of a text that becomes a vector, its prompt included:
  /// sentence-transformers strips texts, and may lower-case them, in front of
  /// the tokenizer.
  std::string prepareForVector(std::string_view text) const {
    return stages.prepareForVector(text);
  }

  /// What a model reads of the beginning of a text: at most `most` tokens,
  /// special ones included; `isCut` says whether others are left out. Ranges as
  /// above. Fails as above.
  Result<TextEncoding> encodeBeginning(std::string_view text,
                                       std::optional<size_t> most, bool tracks,
                                       bool &isCut) const;

  /// The target ids of a part of a target text, without bos or eos.
  Result<std::vector<int32_t>> encodeTarget(std::string_view text) const;

  /// The piece of a source id: bytes, which may be no whole characters.
  std::string_view nameOf(int32_t id) const;

  /// The same in UTF-8, as the vocabulary spells it: byte-level ones have a
  /// character for each byte.
  std::string spellingOf(int32_t id) const {
    return stages.tokenNames().spellingOf(id);
  }

  /// The text of target ids, without special tokens.
  std::string decode(const std::vector<int32_t> &ids) const;

private:
  using Side = TokenizerStages::Side;

  std::vector<Piece> cut(std::string_view text, Side side, bool tracks) const;
  Status check(const std::vector<int32_t> &ids, Side side) const;

  TokenizerStages stages;
  bool cleansUp;
  int32_t sourceCount, targetCount;
};

/// transformers' clean_up_tokenization: spaces in front of English punctuation
/// are taken back, one rule after the other.
std::string cleanUpSpaces(std::string text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TOKENIZER_H
