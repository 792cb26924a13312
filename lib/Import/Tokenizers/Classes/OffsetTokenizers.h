//===- OffsetTokenizers.h - Tokenizers of mBART and Pegasus -----*- C++ -*-===//
//
// One SentencePiece model, whose pieces stand behind the special tokens of the
// class: their numbers are those of the model plus an offset.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_OFFSETTOKENIZERS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_OFFSETTOKENIZERS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// `sentencepiece.bpe.model`, numbered as fairseq does, with a code for each
/// language behind the pieces. The source language is `src_lang` of
/// tokenizer_config.json: mBART's stands behind the text, mBART-50's in front.
llvm::Expected<ImportedTokenizer>
readMBartTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// `spiece.model`, behind the 103 ids that pretraining used.
llvm::Expected<ImportedTokenizer>
readPegasusTokenizer(const TokenizerFiles &files, int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_OFFSETTOKENIZERS_H
