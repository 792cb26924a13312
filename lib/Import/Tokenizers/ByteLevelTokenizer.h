//===- ByteLevelTokenizer.h - Reads byte pairs of a folder ------*- C++ -*-===//
//
// BART's tokenizer: `tokenizer.json`, or `vocab.json` and `merges.txt`, and
// what the other files of a folder say of added tokens. As in transformers the
// first counts if there are both.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELTOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELTOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// The byte-level tokenizer of a folder, whose model has `vocabulary` ids. A
/// folder with none of the files has none.
llvm::Expected<ImportedTokenizer>
readByteLevelTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// The tokenizer of `tokenizer.json` as it stands there, of any kind; a folder
/// without the file has none.
llvm::Expected<ImportedTokenizer>
readWholeTokenizer(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELTOKENIZER_H
