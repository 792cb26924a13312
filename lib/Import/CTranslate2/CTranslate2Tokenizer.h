//===- CTranslate2Tokenizer.h - What cuts texts into tokens -----*- C++ -*-===//
//
// A folder of CTranslate2 has tokens and no tokenizer. People put one beside
// it, by the names that their tools expect:
//
//   tokenizer.json               of transformers
//   source.spm, target.spm       SentencePiece models of Marian
//   sentencepiece.model, spiece.model, tokenizer.model
//                                one SentencePiece model of both sides
//
// Pieces of SentencePiece get the ids that they have in the vocabularies.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2TOKENIZER_H
#define HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2TOKENIZER_H

#include "lib/Import/CTranslate2/CTranslate2Config.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// The tokenizer `file`, a tokenizer.json or a SentencePiece model, or the one
/// of the folder if `file` is empty. One that is not supported is of kind
/// "none" and has a "reason".
llvm::Expected<ImportedTokenizer>
readCTranslate2Tokenizer(const CTranslate2Folder &folder,
                         const CTranslate2Config &config, llvm::StringRef file);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_CTRANSLATE2_CTRANSLATE2TOKENIZER_H
