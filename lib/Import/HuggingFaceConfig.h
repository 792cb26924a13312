//===- HuggingFaceConfig.h - config.json of an encoder-decoder --*- C++ -*-===//
//
// What transformers' BartConfig, LEDConfig and MarianConfig say about the
// network. Every field is read, known to be without effect, or refused by name:
// a field that nobody has thought of is an error and never a wrong result.
// Defaults are those of the classes in transformers 4.57. Some fields only mean
// something to older releases and to the checkpoints these wrote
// (normalize_before, add_final_layer_norm, normalize_embedding,
// static_position_embeddings): they mean here what they meant then.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACECONFIG_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACECONFIG_H

#include "dialect/Transformer.h"
#include "lib/Import/ConfigReader.h"
#include <optional>

namespace heddle {

/// One side of the model.
struct HuggingFaceStack {
  int64_t depth, heads, ffnWidth, maxPositions;
};

struct HuggingFaceConfig {
  enum class Architecture { Bart, Led, Marian };
  Architecture architecture;
  HuggingFaceStack encoder, decoder;
  /// Of matrices that are not trained yet.
  double deviation;
  int64_t width, vocabulary, decoderVocabulary;
  /// LED's: how many neighbours a token of each layer of the encoder attends
  /// to, half of them on either side.
  std::vector<int64_t> windows;
  /// None for the identity.
  std::optional<ActivationKind> activation;
  bool scaleEmbedding;
  /// Norms in front of sublayers instead of behind, one behind the last layer.
  bool normalizeBefore, finalNorm;
  /// A norm behind embeddings and positions.
  bool normalizeEmbedding;
  bool staticPositions;
  /// The first rows of a table of learned positions that are none.
  int64_t positionsOffset;
  /// Which tables are one: output and decoder, encoder and decoder.
  bool tieWordEmbeddings, shareEmbeddings;
  /// Tables of characters, of g2p models; empty for others.
  std::string sourceCharacters, targetCharacters;
  /// Put before the characters.
  std::optional<int64_t> bos;

  /// config.json's name of the architecture.
  llvm::StringRef getModelType() const;
};

/// Reads what shapes the network. Of the fields of config.json only those of
/// generation are left unread.
llvm::Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACECONFIG_H
