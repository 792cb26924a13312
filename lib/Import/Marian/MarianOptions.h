//===- MarianOptions.h - The options that shape a Marian model --*- C++ -*-===//
//
// Marian stores the options a model was trained with inside the model, as YAML
// in the tensor `special:model.yml`. Whatever of them changes the network is
// honoured or refused by name; options that do not are listed as such, so that
// an option nobody has thought of is an error and never a wrong translation.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONS_H
#define HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONS_H

#include "dialect/Transformer.h"
#include "lib/Weights/TensorFile.h"

namespace heddle {

/// A transformer whose decoder has self-attention or an SSRU.
struct MarianOptions {
  int64_t encoderDepth, decoderDepth;
  /// dim-emb and transformer-heads, which divide it.
  int64_t width, heads;
  int64_t encoderFfnWidth, encoderFfnDepth;
  int64_t decoderFfnWidth, decoderFfnDepth;
  int64_t sourceVocabulary, targetVocabulary;
  /// The tensors of embeddings, perhaps one.
  std::string sourceTable, targetTable;
  /// Whether logits are products with the rows of `targetTable`.
  bool tiedOutput;
  /// Whether an SSRU stands in the place of the decoder's self-attention.
  bool isRecurrent;
  ActivationKind activation;
  /// False: attention ends without the output projection.
  bool projection;
  /// What surrounds a sublayer, in order: d dropout (nothing here), a add the
  /// sublayer's input, n layer norm.
  std::string preprocess, postprocess, postprocessEmbedding, postprocessTop;
  /// Whether `preprocess` makes keys and values of self-attention, too, and not
  /// its queries alone.
  bool preprocessesKeys;
  /// The decoder layer whose first head guided alignment trained; -1 for the
  /// last one.
  int64_t alignmentLayer;
  /// The number of the layer whose weights each decoder layer uses.
  llvm::SmallVector<int64_t> decoderLayers;
};

/// Reads and checks the options of a model file.
llvm::Expected<MarianOptions> readMarianOptions(const TensorFile &file);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_MARIAN_MARIANOPTIONS_H
