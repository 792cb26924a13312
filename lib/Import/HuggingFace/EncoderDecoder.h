//===- EncoderDecoder.h - BART and its descendants --------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERDECODER_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERDECODER_H

#include "lib/Import/HuggingFace/HuggingFaceFolder.h"

namespace heddle {

/// Imports a folder of a family with an `encoderDecoder`.
llvm::Expected<ImportedModel> importEncoderDecoder(HuggingFaceFolder &folder);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_ENCODERDECODER_H
