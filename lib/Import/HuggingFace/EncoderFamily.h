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
#include "lib/Import/HuggingFace/HuggingFaceFolder.h"

namespace heddle {

/// Names of a layer's tensors, behind the layer's own; by default BERT's.
struct EncoderLayerNames {
  std::string query = "attention.self.query", key = "attention.self.key",
              value = "attention.self.value", output = "attention.output.dense",
              attentionNorm = "attention.output.LayerNorm",
              up = "intermediate.dense", down = "output.dense",
              ffnNorm = "output.LayerNorm";
};

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
  EncoderLayerNames names;
};

/// config.json.
struct EncoderConfig {
  int64_t vocabulary, width, depth, heads, ffnWidth, types;
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
    mlir::Value ids, types, positions, lengths;
  };
  /// Begins @encode.
  Inputs beginEncode();
  /// Rows of a table of the bare model, as wide as the model: one for each id.
  mlir::Value lookUp(mlir::Value ids, llvm::StringRef table, int64_t rows);
  mlir::Value norm(mlir::Value input, llvm::StringRef name);
  /// All layers over an input; `biases` of scores may be null.
  mlir::Value addLayers(mlir::Value input, mlir::Value lengths,
                        mlir::Value biases);
  /// Ends @encode with the last hidden states, writes the tasks and gives the
  /// model away.
  llvm::Expected<ImportedModel> finish(mlir::Value output);

private:
  EncoderImport(HuggingFaceFolder &folder, const EncoderFamily &family)
      : folder(folder), family(family) {}

  llvm::Error readConfig();
  mlir::Value addLayer(mlir::Value input, int64_t number, mlir::Value mask,
                       mlir::Value biases);

  HuggingFaceFolder &folder;
  const EncoderFamily &family;
  EncoderConfig config;
  ImportedModel model;
  std::optional<LayerBuilder> layers;
  std::string prefix;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERFAMILY_H
