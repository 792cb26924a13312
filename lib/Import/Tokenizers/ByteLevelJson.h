//===- ByteLevelJson.h - Byte pairs of tokenizer.json -----------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELJSON_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELJSON_H

#include "lib/Import/Tokenizers/BytePairTable.h"
#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include <optional>

namespace heddle {

/// What a tokenizer of byte pairs is, before added tokens have ids.
struct BytePairFiles {
  BytePairVocabulary vocabulary;
  /// How many pieces it has, and what a byte is that is none of them.
  int64_t pieceCount = 0;
  std::optional<int64_t> unknown;
  /// How text is cut into words: the table of a pattern, or empty for one word.
  std::string pattern;
  /// Whether a Split cuts it: no prefix space is added then.
  bool isSplit = false;
  /// The tokens in front of a text and behind it.
  std::vector<std::string> before, after;
  /// The file with the pieces, for sentences.
  std::string path;
};

/// The section for GPT-2's pattern, which a ByteLevel pre-tokenizer has.
std::string buildGpt2Pattern();

/// Reads tokenizer.json. Every component that changes ids or text is read or
/// refused by its name; truncation and padding count only if a caller of
/// transformers asks for them.
llvm::Error readByteLevelJson(const TokenizerFiles &files, int64_t vocabulary,
                              BytePairFiles &into);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_BYTELEVELJSON_H
