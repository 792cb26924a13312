//===- SentencePieceJson.h - tokenizer.json beside a *.spm ------*- C++ -*-===//
//
// A fast tokenizer of transformers reads tokenizer.json if a folder has one,
// and not the SentencePiece model that it was converted from. Here the model is
// read, so what tokenizer.json says must be that conversion (SpmConverter of
// convert_slow_tokenizer.py), as one of its versions wrote it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEJSON_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEJSON_H

#include "lib/Import/Tokenizers/ConvertedModel.h"
#include "lib/Import/Tokenizers/TokenizerFiles.h"

namespace heddle {

/// What versions of the conversion do to spaces. `frame` is "fast-words" if
/// text is cut at white space first, else "fast". `spaces` says what several
/// become: "marked" (those at the end go, several are one mark), "single" or
/// "kept".
struct SpaceForm {
  llvm::StringRef frame, spaces = "marked";
};

/// How tokenizer.json treats spaces, or `byDefault` without it.
/// UnsupportedTokenizer if it is another tokenizer than the conversion.
llvm::Expected<SpaceForm> readConversion(const TokenizerFiles &files,
                                         const SentencePieceModel &model,
                                         const ConvertedModel &converted,
                                         SpaceForm byDefault);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECEJSON_H
