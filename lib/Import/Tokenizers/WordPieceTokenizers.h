//===- WordPieceTokenizers.h - Tokenizers of BERT and MPNet -----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_WORDPIECETOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_WORDPIECETOKENIZERS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// BertTokenizer, and the classes that only have another name: `tokenizer.json`
/// or `vocab.txt`.
llvm::Expected<ImportedTokenizer> readBertTokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary);

/// The same of MPNetTokenizer, which has RoBERTa's special tokens.
llvm::Expected<ImportedTokenizer>
readMPNetTokenizer(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_WORDPIECETOKENIZERS_H
