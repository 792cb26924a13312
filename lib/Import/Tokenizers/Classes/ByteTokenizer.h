//===- ByteTokenizer.h - A token for each byte ------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTETOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTETOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// Makes the tokenizer of ByT5, which reads no vocabulary.
llvm::Expected<ImportedTokenizer> readByT5Tokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTETOKENIZER_H
