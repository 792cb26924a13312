//===- NllbTokenizer.h - The tokenizer of NLLB ------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_NLLBTOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_NLLBTOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// tokenizer.json, or `sentencepiece.bpe.model`. The source language is
/// `src_lang` of tokenizer_config.json and stands in front of a text, with
/// `legacy_behaviour` behind it.
llvm::Expected<ImportedTokenizer> readNllbTokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_NLLBTOKENIZER_H
