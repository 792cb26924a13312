//===- HuggingFaceConfig.h - config.json of an encoder-decoder --*- C++ -*-===//
//
// What transformers' configuration classes of BART's descendants say about the
// network. Defaults are those of the classes in transformers 4.57.6, and so is
// what a field means, null included: HuggingFaceFields.h lists the fields that
// the release reads and Heddle lacks, which are errors, and those that it does
// not read. HuggingFaceForm.h has the fields that transformers 3 read.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACECONFIG_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACECONFIG_H

#include "dialect/Transformer.h"
#include "lib/Import/HuggingFace/HuggingFaceArchitecture.h"
#include <optional>

namespace heddle {

/// Bounds that keep a damaged field from becoming an endless import.
inline constexpr int64_t kMaxDepth = 256, kMaxWidth = 1 << 20,
                         kMaxVocabulary = 1 << 24;

/// One side of the model.
struct HuggingFaceStack {
  int64_t depth, heads, ffnWidth, maxPositions;
};

struct HuggingFaceConfig {
  const HuggingFaceArchitecture *architecture;
  HuggingFaceStack encoder, decoder;
  /// Of matrices that are not trained yet.
  double deviation;
  int64_t width, vocabulary, decoderVocabulary;
  /// Of the decoder's table of embeddings.
  int64_t decoderRows;
  /// LED's: how many neighbours a token of each layer of the encoder attends
  /// to, half of them on either side.
  std::vector<int64_t> windows;
  /// None for the identity.
  std::optional<ActivationKind> activation;
  bool scaleEmbedding;
  /// Whether the linears of attention have biases.
  bool attentionBias = true;
  /// How many tokens sources have at most, if fewer than the encoder has
  /// positions.
  std::optional<int64_t> sourceLimit = std::nullopt;
  HuggingFaceForm form;
  /// The first rows of a table of learned positions that are none.
  int64_t positionsOffset;
  /// M2M100's: positions by formula count from this id of padding, whose own
  /// row is zero.
  std::optional<int64_t> pad = std::nullopt;
  /// Which tables are one: output and decoder, encoder and decoder.
  bool tieWordEmbeddings, shareEmbeddings;
  /// Tables of characters, of g2p models; empty for others.
  std::string sourceCharacters, targetCharacters;
  /// Put before the characters.
  std::optional<int64_t> bos;
};

/// Reads what shapes the network, but for the form: it is the class's. Of the
/// fields of config.json, those of generation, of older forms and those without
/// effect are left unread.
llvm::Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACECONFIG_H
