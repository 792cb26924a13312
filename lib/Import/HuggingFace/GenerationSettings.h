//===- GenerationSettings.h - Settings of the governing file ----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_GENERATIONSETTINGS_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_GENERATIONSETTINGS_H

#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "mlir/IR/Builders.h"

namespace heddle {

/// Reads the settings of the file that governs generation. `defaults` are ids
/// that it need not name; `forcesBos` says that the first token is bos. Fails
/// in `config`.
mlir::DictionaryAttr readSettings(ConfigReader &config,
                                  const DefaultIds &defaults, bool forcesBos,
                                  const GeneratingNetwork &network,
                                  mlir::Builder &builder);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_GENERATIONSETTINGS_H
