//===- M2M100Tokenizer.h - Tokenizers of M2M100, SMaLL-100 ------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_M2M100TOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_M2M100TOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// `sentencepiece.bpe.model` cuts, `vocab.json` numbers the pieces, languages
/// stand behind them. The language in front of a text is `src_lang` of
/// tokenizer_config.json, or of SMaLL-100 `tgt_lang`.
llvm::Expected<ImportedTokenizer>
readM2M100Tokenizer(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_M2M100TOKENIZER_H
