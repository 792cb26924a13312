//===- SentencePieceSamples.h - Models and texts to cut ---------*- C++ -*-===//
//
// SentencePiece 0.1.97 is the oracle: its trainer makes small models with every
// option that matters, and its processor says what their ids and texts are.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_TOKENIZERS_SENTENCEPIECESAMPLES_H
#define HEDDLE_TEST_UNIT_TOKENIZERS_SENTENCEPIECESAMPLES_H

#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "runtime/tokenizer/TokenizerStages.h"
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace heddle::test {

/// The file of a model that the library's trainer makes of text in English and
/// Portuguese; `options` are those of its command line.
std::string trainSentencePiece(const std::string &options);

/// The model with every third ordinary piece of more than a character marked as
/// one that is only on the way to others.
std::string markUnused(const std::string &model);

/// The file of a model of these pieces, with no rules of normalisation.
std::string writeSentencePieces(const std::vector<SentencePiece> &pieces,
                                SentencePieceModel::Kind kind);

/// A model as the runtime has it.
class StagedModel {
public:
  explicit StagedModel(const SentencePieceModel &model);

  std::vector<int> cut(std::string_view text) const;
  std::string join(const std::vector<int> &ids) const {
    return stages->join(ids);
  }

private:
  std::string section;
  std::optional<TokenizerStages> stages;
};

/// Draws lines of many scripts: words of real texts, characters of ranges of
/// Unicode, pieces of a model, special tokens, spaces of all kinds, and bytes
/// that are damaged.
class LineDrawer {
public:
  LineDrawer(uint32_t seed, std::vector<std::string> pieces);

  /// A line of up to some 200 bytes.
  std::string drawLine();
  /// A line of at least that many bytes.
  std::string drawLong(size_t size);

private:
  size_t below(size_t bound) { return random() % bound; }
  std::string drawPart();

  std::mt19937 random;
  std::vector<std::string> pieces, words;
};

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_TOKENIZERS_SENTENCEPIECESAMPLES_H
