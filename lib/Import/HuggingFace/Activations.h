//===- Activations.h - transformers' names of activations -------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_ACTIVATIONS_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_ACTIVATIONS_H

#include "dialect/Transformer.h"
#include "lib/Import/HuggingFace/ConfigReader.h"

namespace heddle {

/// The activation that a field names as ACT2FN of transformers does; none for
/// null and "linear", the identity. Fails in `config` if the name is another.
std::optional<ActivationKind> readActivation(ConfigReader &config,
                                             llvm::StringRef field,
                                             llvm::StringRef byDefault);

/// The same of a name that the field has in a form of its own.
std::optional<ActivationKind> findActivation(ConfigReader &config,
                                             llvm::StringRef field,
                                             llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ACTIVATIONS_H
