//===- FairseqTokenizer.h - What cuts texts into tokens ---------*- C++ -*-===//
//
// A checkpoint of fairseq has no tokenizer. People put one beside it, a model
// of SentencePiece or the merges of fastBPE or subword-nmt.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQTOKENIZER_H
#define HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQTOKENIZER_H

#include "lib/Import/Fairseq/FairseqDictionary.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// The tokenizer `file`, or the one of the folder if `file` is empty; of kind
/// "none" if that has none.
llvm::Expected<ImportedTokenizer>
readFairseqTokenizer(llvm::StringRef folder, const FairseqDictionary &source,
                     const FairseqDictionary &target, llvm::StringRef file);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_FAIRSEQ_FAIRSEQTOKENIZER_H
