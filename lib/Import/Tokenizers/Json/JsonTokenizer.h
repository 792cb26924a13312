//===- JsonTokenizer.h - Tokenizers as tokenizer.json has them --*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_JSONTOKENIZER_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_JSONTOKENIZER_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "lib/Import/Tokenizers/Tokenizers.h"

namespace heddle {

/// The tokens of a class that has languages.
struct TokenizerLanguages {
  /// The one in the template, which a request's source language replaces.
  std::string source;
  std::vector<std::string> all;
};

/// What a tokenizer's class says of its folder.
struct JsonTokenizerInput {
  const TokenizerFiles &files;
  /// tokenizer.json, or what transformers makes of other files.
  const llvm::json::Object &whole;
  /// Of the file with the pieces, for errors.
  std::string path;
  /// How many ids the source has.
  int64_t vocabulary;
  /// The special tokens of the class, in its order.
  std::vector<SpecialToken> special;
  /// The added tokens of tokenizer.json, or of what takes its place.
  std::vector<AddedTokenForm> added = {};
  TokenizerLanguages languages = {};
  /// Whether the class drops the added tokens of other files.
  bool dropsAdded = false;
  /// Whether the class strips white space from the ends of joined text.
  bool stripsText = false;
};

/// What is not supported is an UnsupportedTokenizer.
llvm::Expected<ImportedTokenizer>
readJsonTokenizer(const JsonTokenizerInput &input);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_JSONTOKENIZER_H
