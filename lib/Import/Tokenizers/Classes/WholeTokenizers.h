//===- WholeTokenizers.h - Classes with tokenizer.json alone ----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WHOLETOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WHOLETOKENIZERS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// Reads tokenizer.json as it stands there, but for the special tokens of the
/// class `files.className`: Bloom, Herbert, ... A folder without the file has
/// no tokenizer.
llvm::Expected<ImportedTokenizer> readWholeClass(const TokenizerFiles &files,
                                                 int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WHOLETOKENIZERS_H
