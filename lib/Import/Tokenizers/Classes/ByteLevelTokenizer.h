//===- ByteLevelTokenizer.h - Reads byte pairs of a folder ------*- C++ -*-===//
//
// Tokenizers with `tokenizer.json`, or `vocab.json` and `merges.txt`, and what
// the other files of a folder say of added tokens. As in transformers the first
// counts if there are both. A folder with none of the files has no tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTELEVELTOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTELEVELTOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// BART's and LED's.
llvm::Expected<ImportedTokenizer>
readByteLevelTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// RoBERTa's and Longformer's: <mask> is found in front of the normalizer.
llvm::Expected<ImportedTokenizer>
readRobertaTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// MVP's: all special tokens are found in front of the normalizer.
llvm::Expected<ImportedTokenizer> readMvpTokenizer(const TokenizerFiles &files,
                                                   int64_t vocabulary);

/// The one of Blenderbot: nothing in front of a text.
llvm::Expected<ImportedTokenizer>
readBlenderbotTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// The one of DeBERTa (not of its second version).
llvm::Expected<ImportedTokenizer>
readDebertaTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// The one of CodeGen, which puts nothing around a text.
llvm::Expected<ImportedTokenizer>
readCodeGenTokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// The one of GPT-2, which puts nothing around a text unless a file says it.
llvm::Expected<ImportedTokenizer> readGpt2Tokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary);

/// The one of Qwen2: another pattern, behind NFC.
llvm::Expected<ImportedTokenizer>
readQwen2Tokenizer(const TokenizerFiles &files, int64_t vocabulary);

/// The one of CLIP: small letters, in pieces that a mark ends words with.
llvm::Expected<ImportedTokenizer> readClipTokenizer(const TokenizerFiles &files,
                                                    int64_t vocabulary);

/// Overwrites what the processor of tokenizer.json says of spaces in ranges, as
/// BART's constructor does.
void overwriteTrimming(const TokenizerFiles &files, llvm::json::Object &whole);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_BYTELEVELTOKENIZER_H
