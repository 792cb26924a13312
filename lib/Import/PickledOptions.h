//===- PickledOptions.h - Options of a checkpoint as fields -----*- C++ -*-===//
//
// Trainers keep their options in a checkpoint: an argparse.Namespace, a
// dictionary, or nodes of omegaconf. Here they are fields, as those of a
// configuration in JSON.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_PICKLEDOPTIONS_H
#define HEDDLE_LIB_IMPORT_PICKLEDOPTIONS_H

#include "lib/Weights/Pickle.h"
#include "llvm/Support/JSON.h"

namespace heddle {

/// The fields of a value that has some. An enumerator is the text or the number
/// that makes it; another object is a text that names its class.
std::optional<llvm::json::Object> readPickledOptions(const PickleValue &value);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_PICKLEDOPTIONS_H
