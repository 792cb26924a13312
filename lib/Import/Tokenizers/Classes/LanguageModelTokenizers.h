//===- LanguageModelTokenizers.h - Tokenizers of Llama and kin --*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_LANGUAGEMODELTOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_LANGUAGEMODELTOKENIZERS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

// Classes that put in place of the post-processor of `tokenizer.json` what
// tokenizer_config.json says of tokens around a text. Llama's also convert
// `tokenizer.model`.
llvm::Expected<ImportedTokenizer>
readLlamaTokenizer(const TokenizerFiles &files, int64_t vocabulary);
llvm::Expected<ImportedTokenizer>
readCodeLlamaTokenizer(const TokenizerFiles &files, int64_t vocabulary);
llvm::Expected<ImportedTokenizer>
readCohereTokenizer(const TokenizerFiles &files, int64_t vocabulary);
llvm::Expected<ImportedTokenizer>
readGemmaTokenizer(const TokenizerFiles &files, int64_t vocabulary);
llvm::Expected<ImportedTokenizer>
readGptNeoxTokenizer(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_LANGUAGEMODELTOKENIZERS_H
