//===- ByteLevelTokenizer.h - Reads byte pairs of a folder ------*- C++ -*-===//
//
// BART's tokenizer: `vocab.json` and `merges.txt`, or `tokenizer.json`, which
// holds the same, with special tokens in `special_tokens_map.json`,
// `tokenizer_config.json` and `added_tokens.json`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_BYTELEVELTOKENIZER_H
#define HEDDLE_LIB_IMPORT_BYTELEVELTOKENIZER_H

#include "lib/Import/Tokenizers.h"

namespace heddle {

/// The byte-level tokenizer of a folder, whose ids are below `vocabulary`. A
/// folder with neither merges.txt nor a tokenizer.json of byte pairs has none.
llvm::Expected<ImportedTokenizer> readByteLevelTokenizer(llvm::StringRef folder,
                                                         int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_BYTELEVELTOKENIZER_H
