//===- HuggingFaceGeneration.h - How a model generates ----------*- C++ -*-===//
//
// The generation settings of a Hugging Face folder, as from_pretrained and
// `generate` of transformers 4.57.6 resolve them:
//
//   - without generation_config.json, config.json has them, with the defaults
//     of its class (GenerationConfig.from_model_config)
//   - otherwise that file alone has them: what it leaves out is not taken from
//     config.json
//   - except if it was derived from a config.json (`_from_model_config`) and
//     config.json has settings of its own: one of 25 that is neither null nor
//     the class's default (_get_non_default_generation_parameters)
//
// A setting that is null is no setting; if transformers itself fails on one
// (num_beams), Heddle takes the default. Two defaults are not imported: the
// length of 20 and the 50 best tokens of samples. Samples are only drawn on
// request.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEGENERATION_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEGENERATION_H

#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace heddle {

/// What the settings of a network depend on.
struct GeneratingNetwork {
  DefaultIds ids;
  /// See HuggingFaceArchitecture.
  bool readsForceBos = false;
  /// How many ids the source and the target have.
  int64_t sourceVocabulary = 0, vocabulary = 0;
  /// The positions of the decoder; none if they have no end.
  std::optional<int64_t> positions;
  /// Whether a text is the beginning of its target, so that `max_length` counts
  /// it and nothing stands in front of it.
  bool continuesTexts = false;
  /// See HuggingFaceArchitecture.
  llvm::ArrayRef<DefaultField> settings = {};
};

/// Returns the settings of the task `generate` of a model. `config` is
/// config.json, `generation` generation_config.json if the folder has it.
/// Afterwards only fields that transformers does not know are unread in either.
llvm::Expected<mlir::DictionaryAttr>
readGeneration(ConfigReader &config, ConfigReader *generation,
               const GeneratingNetwork &network, mlir::MLIRContext &context);

/// The same of an encoder-decoder.
llvm::Expected<mlir::DictionaryAttr>
readGeneration(ConfigReader &config, ConfigReader *generation,
               const HuggingFaceConfig &model, mlir::MLIRContext &context);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEGENERATION_H
