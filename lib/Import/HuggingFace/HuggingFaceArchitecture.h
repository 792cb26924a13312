//===- HuggingFaceArchitecture.h - A class of transformers ------*- C++ -*-===//
//
// What a class of BART's descendants says by its code rather than by its
// config.json: each has a file that describes it, Families/<Name>.cpp, and
// everything else asks the description.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEARCHITECTURE_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEARCHITECTURE_H

#include "lib/Import/HuggingFace/ConfigReader.h"

namespace heddle {

struct HuggingFaceConfig;
class HuggingFaceModel;

/// The norms and positions of a class: norms in front of sublayers instead of
/// behind, one behind the last layer, one behind embeddings and positions;
/// positions by formula.
struct HuggingFaceForm {
  bool normalizeBefore = false, finalNorm = false, normalizeEmbedding = false,
       staticPositions = false;
};

/// Ids that a configuration class has by default, which count if config.json
/// governs generation.
struct DefaultIds {
  std::optional<int64_t> start, bos, eos, pad, forcedEos;
};

/// A setting of generation that a configuration class sets otherwise than the
/// library does.
struct DefaultField {
  llvm::StringLiteral field;
  int64_t value;
};

/// Sizes that a configuration class has by default.
struct DefaultStack {
  int64_t depth = 12, heads = 16, ffnWidth = 4096;
};
struct DefaultSizes {
  int64_t width = 1024, positions = 1024;
  DefaultStack encoder, decoder;
};

/// Filled by statements: what a class does not say is none or false.
struct HuggingFaceArchitecture {
  llvm::StringRef className, modelType;
  /// In front of the names of all tensors but those of the output, unless the
  /// class without the head wrote the file.
  llvm::StringRef prefix;
  /// The field with the size of the vocabulary, and what it is by default.
  llvm::StringRef vocabularyField = "vocab_size";
  int64_t vocabulary = 0;
  DefaultSizes sizes;
  DefaultIds ids;
  llvm::ArrayRef<DefaultField> settings;
  HuggingFaceForm form;
  /// Defaults of `scale_embedding` and `activation_function`.
  bool scalesEmbedding = false;
  llvm::StringRef activation = "gelu";
  /// Whether the norm behind the decoder's embeddings stands in front of its
  /// positions.
  bool normalizesBeforePositions = false;
  /// The norm behind the last layer.
  llvm::StringRef finalNorm = "layer_norm";
  /// The default of `tie_word_embeddings`.
  bool tiesTables = true;
  /// Whether positions that are counted from padding count as the file has
  /// them.
  bool storesPositions = false;
  /// Whether transformers 3 read another form from config.json and wrote
  /// checkpoints of it: HuggingFaceForm.h.
  bool hadOtherForms = false;
  /// Whether force_bos_token_to_be_generated of config.json is a setting.
  bool readsForceBos = false;
  /// How many of the first heads of the last layer show alignments; 0 for all,
  /// where none was trained to.
  int64_t alignedHeads = 0;
  /// Where a table for both sides may stand, behind the prefix: the first name
  /// that a checkpoint has counts.
  llvm::ArrayRef<llvm::StringLiteral> sharedTables;
  /// Whether a side whose own table is missing takes the first of these.
  bool sidesFallBack = false;
  /// The output of a class whose decoder reads its embeddings from it.
  llvm::StringRef outputTable;
  /// Reads what shapes the network beyond its sizes: positions, tables.
  void (*readForm)(ConfigReader &config, HuggingFaceConfig &model) = nullptr;
  /// Writes @encode.
  void (*buildEncode)(HuggingFaceModel &model) = nullptr;
  /// The class of the tokenizer if a folder names none.
  llvm::StringRef tokenizerClass;
};

/// Names of tables, for `sharedTables`.
inline constexpr llvm::StringLiteral
    kBartTables[] = {"shared.weight", "decoder.embed_tokens.weight"},
    kAllTables[] = {"shared.weight", "encoder.embed_tokens.weight",
                    "decoder.embed_tokens.weight"};

/// `max_position_embeddings` of both sides.
void readPositions(ConfigReader &config, HuggingFaceConfig &model);

/// The same of tables whose first row is the first position.
void readPlainPositions(ConfigReader &config, HuggingFaceConfig &model);

/// The same of sinusoids that count from the id of padding, as fairseq's.
void readCountedPositions(ConfigReader &config, HuggingFaceConfig &model);

/// The encoder of all but LED.
void buildBartEncode(HuggingFaceModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEARCHITECTURE_H
