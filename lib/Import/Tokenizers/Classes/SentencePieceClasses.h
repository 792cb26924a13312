//===- SentencePieceClasses.h - Classes with a *.spm ------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_SENTENCEPIECECLASSES_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_SENTENCEPIECECLASSES_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// Reads tokenizer.json, or the SentencePiece model of a class that
/// transformers converts: ALBERT, T5, XLM-RoBERTa, ... `files.className` is one
/// of them.
llvm::Expected<ImportedTokenizer>
readSentencePieceClass(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_SENTENCEPIECECLASSES_H
