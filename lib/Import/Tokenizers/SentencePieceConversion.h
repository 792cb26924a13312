//===- SentencePieceConversion.h - *.spm as tokenizer.json ------*- C++ -*-===//
//
// transformers' fast tokenizers do not use SentencePiece: SpmConverter (of
// convert_slow_tokenizer.py) makes components of the library tokenizers of a
// model. In them nothing is reserved or unused any more: text is cut into "<s>"
// or "en_XX", too, as soon as it looks so behind the normalizer.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECECONVERSION_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECECONVERSION_H

#include "lib/Import/Tokenizers/Classes/ClassTokens.h"
#include "lib/Import/Tokenizers/Json/JsonTokenizer.h"
#include "lib/Import/Tokenizers/SentencePieceModel.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// What a class's converter makes of a model. It begins as SpmConverter has it.
struct SentencePieceConversion {
  explicit SentencePieceConversion(const SentencePieceModel &model);

  using Piece = std::pair<std::string, double>;
  /// All pieces by their ids.
  std::vector<Piece> pieces;
  /// Of a unigram model.
  int64_t unknown;
  bool fallsBackToBytes = false;
  /// Components of tokenizer.json; null for none.
  llvm::json::Value normalizer, preTokenizer, postProcessor, decoder;

  /// Takes these in place of the first `count` pieces.
  void replaceFirst(size_t count, std::vector<Piece> others);
  /// fairseq's first pieces take the place of the model's <unk>, <s>, </s>.
  void replaceByFairseq();
  /// The score is less of a piece that ends with a digit and a comma.
  void lowerNumbers();
};

/// Whether Llama and T5 put a space in front of a text that their models cut. A
/// class that converts although there is tokenizer.json has it only if the
/// configuration says so.
bool addsPrefixSpace(const TokenizerFiles &files);
/// Their field `legacy`, of which null is true.
bool isLegacy(const TokenizerFiles &files);

// Components.
llvm::json::Object makeReplace(llvm::StringRef pattern,
                               llvm::StringRef content);
/// A pattern that is a regular expression.
llvm::json::Object makeReplaceRegex(llvm::StringRef pattern,
                                    llvm::StringRef content);
llvm::json::Object makeMetaspace(llvm::StringRef scheme);
/// The rules of a model; none if it has none.
std::optional<llvm::json::Object>
makePrecompiled(const SentencePieceModel &model);
llvm::json::Object makeSequence(llvm::StringRef list, llvm::json::Array parts);

/// How a class reads a folder.
struct ConvertedClass {
  /// The model's file.
  llvm::StringRef file;
  /// Special tokens, in the class's order.
  std::vector<SpecialToken> special;
  /// Makes the class's changes.
  llvm::function_ref<void(const SentencePieceModel &,
                          SentencePieceConversion &)>
      convert;
  /// What the class overwrites in either.
  llvm::function_ref<void(llvm::json::Object &)> overwrite = nullptr;
  TokenizerLanguages languages = {};
  bool dropsAdded = false;
};

/// tokenizer.json, or else what the class makes of the model; none if a folder
/// has neither.
llvm::Expected<ImportedTokenizer>
readConvertedTokenizer(const TokenizerFiles &files, const ConvertedClass &made,
                       int64_t vocabulary);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_SENTENCEPIECECONVERSION_H
