//===- HuggingFaceModel.h - What BART's descendants share -------*- C++ -*-===//
//
// Encoder-decoders in Hugging Face's form: layers as transformers' modules name
// their tensors, and the decoder. Encoders have a file each.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEMODEL_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEMODEL_H

#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/LayerBuilder.h"

namespace heddle {

/// Writes the functions of one model. Linear weights are stored [out, in].
class HuggingFaceModel {
public:
  /// Both must outlive the model. `prefix` stands in front of the names of all
  /// tensors but those of the output, its dot included.
  HuggingFaceModel(LayerBuilder &layers, const HuggingFaceConfig &config,
                   llvm::StringRef prefix);

  LayerBuilder &layers;
  const HuggingFaceConfig &config;

  /// "model.encoder.layers.3".
  std::string layerName(llvm::StringRef side, int64_t layer) const;

  /// ids [batch, length] -> [batch, length, width], with positions; `side` is
  /// "encoder" or "decoder". `positions`, if the runtime gives them, are rows
  /// of the table of `pad`.
  mlir::Value embed(mlir::Value ids, const std::string &side,
                    mlir::Value positions = mlir::Value());
  mlir::Value dense(mlir::Value input, const std::string &name, int64_t width);
  mlir::Value norm(mlir::Value input, const std::string &name);
  /// A sublayer with its residual and its norm, before or behind.
  mlir::Value sublayer(mlir::Value input, const std::string &norm,
                       llvm::function_ref<mlir::Value(mlir::Value)> apply);

  /// The sublayer of attention `name`; if memory is null it is
  /// self-attention.
  mlir::Value attention(mlir::Value input, mlir::Value memory, mlir::Value mask,
                        const std::string &name, int64_t heads);
  mlir::Value feedForward(mlir::Value input, const std::string &layer,
                          int64_t ffnWidth);
  /// The norm behind the last layer, if there is one.
  mlir::Value finish(mlir::Value input, const std::string &side);

  void buildDecode();

private:
  /// Of tables that may be one, the first that the checkpoint has.
  std::string firstOf(llvm::ArrayRef<std::string> names) const;
  mlir::Value addPositions(mlir::Value input, const std::string &side,
                           mlir::Value positions);

  std::string prefix;
  /// Names of the tensors behind the three tables.
  std::string encoderTable, decoderTable, outputTable;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEMODEL_H
