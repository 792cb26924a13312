//===- WordPieceTokenizers.h - Tokenizers of BERT and kin -------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WORDPIECETOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WORDPIECETOKENIZERS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// Reads tokenizer.json or `vocab.txt`. `files.className` is one of the classes
/// that have BERT's normalizer: BERT, MPNet, Funnel, ...
llvm::Expected<ImportedTokenizer>
readWordPieceClass(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_WORDPIECETOKENIZERS_H
