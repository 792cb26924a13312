//===- EncoderFamily.h - Encoders with norms behind sublayers ---*- C++ -*-===//
//
// What BERT and the encoders after it share: the fields of config.json, layers
// of attention and ffn, each with its residual and then a norm, and the tasks
// that follow from the folder. A family's file writes what stands in front of
// the layers, and says where it differs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERFAMILY_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERFAMILY_H

#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/EncoderHeads.h"
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/HuggingFace/SentenceTransformers.h"
#include <functional>

namespace heddle {

/// Names of tensors behind the prefix; by default BERT's. Those of a layer
/// stand behind the layer's own name.
struct EncoderNames {
  std::string words = "embeddings.word_embeddings.weight",
              positions = "embeddings.position_embeddings.weight",
              types = "embeddings.token_type_embeddings.weight",
              norm = "embeddings.LayerNorm";
  /// From tables that are narrower than the model, or as wide, to its width;
  /// empty for none.
  std::string projection;
  std::function<std::string(int64_t number)> layer = [](int64_t number) {
    return "encoder.layer." + std::to_string(number);
  };
  std::string query = "attention.self.query", key = "attention.self.key",
              value = "attention.self.value", output = "attention.output.dense",
              attentionNorm = "attention.output.LayerNorm",
              up = "intermediate.dense", down = "output.dense",
              ffnNorm = "output.LayerNorm";
};

/// A field of config.json, and what it is without it.
struct SizeField {
  llvm::StringRef name;
  int64_t byDefault;
};

/// Fields of config.json; by default BERT's.
struct EncoderFields {
  SizeField width = {"hidden_size", 768}, depth = {"num_hidden_layers", 12},
            heads = {"num_attention_heads", 12},
            ffnWidth = {"intermediate_size", 3072},
            /// Without a name for a family that has positions without end.
      positions = {"max_position_embeddings", 512};
  /// Of a family whose tables may be narrower than the model.
  std::optional<SizeField> tableWidth = {};
  /// Whether the heads of attention share the width among them.
  bool headsDivideWidth = true;
  /// Empty for a family that reads its activation itself.
  llvm::StringRef activation = "hidden_act", usualActivation = "gelu";
  /// Empty for a family whose epsilon is always the usual one.
  llvm::StringRef epsilon = "layer_norm_eps";
  double usualEpsilon = 1e-12;
  /// Whether `position_embedding_type` may ask for other positions.
  bool readsPositionKind = true;
  /// Whether the class can be a decoder, too.
  bool mayDecode = false;
};

class EncoderImport;

/// What a family says by its code; filled by statements.
struct EncoderFamily {
  llvm::StringRef modelType;
  /// In front of all tensors if the file is of a class with a head.
  llvm::StringRef prefix;
  /// The class of the tokenizer if the folder names none.
  llvm::StringRef tokenizerClass;
  /// Defaults of the configuration class.
  int64_t vocabulary = 0;
  /// The default of `type_vocab_size`; none for a family without types.
  std::optional<int64_t> types;
  /// The token whose positions are none, if positions are counted from ids; as
  /// many rows of their table and one more are of no use then.
  std::optional<int64_t> pad;
  /// Whether no text has more tokens than the table of positions has rows.
  bool limitsTexts = true;
  /// Whether @encode is told which tokens are global ones.
  bool hasGlobalTokens = false;
  /// Layers for each that `fields.depth` counts.
  int64_t layersPerStep = 1;
  /// The heads of its classes.
  std::function<EncoderHeads(const EncoderImport &import)> heads;
  EncoderFields fields;
  EncoderNames names;
};

/// config.json.
struct EncoderConfig {
  int64_t vocabulary, width, depth, heads, ffnWidth, types;
  /// How many of the layers are imported: see ImportOptions. Without all of
  /// them, or of what stands behind, a model has no heads.
  int64_t usedDepth;
  bool isWhole;
  /// Of the tables.
  int64_t tableWidth;
  /// Rows of the table of positions, and the most tokens of a text.
  int64_t positionRows, positions;
  float epsilon;
  std::optional<ActivationKind> activation;
  double deviation;
};

/// An encoder that is being imported.
class EncoderImport {
public:
  /// Reads the configuration and finds the weights. `family` and `folder` must
  /// outlive the import.
  static llvm::Expected<std::unique_ptr<EncoderImport>>
  begin(HuggingFaceFolder &folder, const EncoderFamily &family);

  const EncoderConfig &getConfig() const { return config; }
  LayerBuilder &getLayers() { return *layers; }
  Blocks getBlocks() { return Blocks(*layers); }
  /// The name of a tensor of the bare model, as the file has it.
  std::string nameOf(llvm::StringRef name) const { return prefix + name.str(); }

  /// What the runtime gives to @encode, i32; null for what a family has not.
  struct Inputs {
    mlir::Value ids, types, positions, lengths, global;
  };
  /// Begins @encode.
  Inputs beginEncode();
  /// The sum of the vectors of tokens, types and positions, normalised, as wide
  /// as the model.
  mlir::Value addEmbeddings(const Inputs &inputs);
  /// Rows of a table of the bare model: one for each id.
  mlir::Value lookUp(mlir::Value ids, llvm::StringRef table, int64_t rows);
  mlir::Value norm(mlir::Value input, llvm::StringRef name);
  /// What a family adds to the attention of a layer.
  using AdaptAttention =
      llvm::function_ref<void(AttentionBlock &block, int64_t layer)>;
  /// All layers over an input; `adapt` may be null.
  mlir::Value addLayers(mlir::Value input, mlir::Value lengths,
                        AdaptAttention adapt = nullptr);
  /// Ends @encode with the last hidden states, writes the tasks and gives the
  /// model away.
  llvm::Expected<ImportedModel> finish(mlir::Value output);

private:
  EncoderImport(HuggingFaceFolder &folder, const EncoderFamily &family)
      : folder(folder), family(family) {}

  llvm::Error readConfig();
  llvm::Error cutLayers();
  void readSizes();
  llvm::Error addSparseEmbed(const EmbedModules &embed,
                             const HeadInputs &inputs);
  llvm::Expected<EmbedModules> addTasks(const ImportedTokenizer &tokenizer);
  mlir::Value addLayer(mlir::Value input, int64_t number, mlir::Value mask,
                       AdaptAttention adapt);

  HuggingFaceFolder &folder;
  const EncoderFamily &family;
  EncoderConfig config;
  ImportedModel model;
  std::optional<LayerBuilder> layers;
  std::string prefix;
};

/// The heads of RoBERTa and of those that took them over.
EncoderHeads headsOfRoberta(const EncoderImport &import);

/// Imports a family that is all that stands above: BERT, with other names.
llvm::Expected<ImportedModel> importEncoder(HuggingFaceFolder &folder,
                                            const EncoderFamily &family);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERFAMILY_H
