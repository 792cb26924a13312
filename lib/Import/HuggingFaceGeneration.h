//===- HuggingFaceGeneration.h - How a model generates ----------*- C++ -*-===//
//
// The generation settings of a Hugging Face folder, as transformers 4.57 finds
// them: `generation_config.json` alone where it exists - what it leaves out is
// not taken from config.json - except that a file derived from config.json
// (`_from_model_config`) yields to a config.json with settings of its own.
// Settings that only concern beams and sampling are accepted: the strategy is
// chosen at run time. Settings that change greedy decoding and are not
// supported are refused. transformers' default length of 20 is not imported.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACEGENERATION_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACEGENERATION_H

#include "lib/Import/ConfigReader.h"
#include "lib/Import/HuggingFaceConfig.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace heddle {

/// Returns the attribute `transformer.generation` of a model. `config` is
/// config.json, `generation` generation_config.json where the folder has it.
/// Every field of the one that governs ends up read or refused; of the other,
/// fields that are unknown are.
llvm::Expected<mlir::DictionaryAttr>
readGeneration(ConfigReader &config, ConfigReader *generation,
               const HuggingFaceConfig &model, mlir::MLIRContext &context);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACEGENERATION_H
