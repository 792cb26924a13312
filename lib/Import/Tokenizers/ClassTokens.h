//===- ClassTokens.h - Special tokens of a tokenizer's class ----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSTOKENS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSTOKENS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "llvm/ADT/ArrayRef.h"

namespace heddle {

/// A special token that a class of transformers has if no file names one.
struct DefaultToken {
  llvm::StringLiteral field, text;
  /// What the class gives to the library: a text, an object (AddedToken), or an
  /// object only if it converts a slow tokenizer, without tokenizer.json.
  enum class Form { Text, Object, ObjectIfConverted };
  Form form = Form::Text;
  bool stripsLeft = false;
  /// Whether an object is found behind the normalizer. What Python leaves open
  /// follows from being special, unless a slow tokenizer has fixed it before.
  enum class Normalized { Always, IfConverted, Never };
  Normalized normalized = Normalized::Always;
};

/// The special tokens of a class, in its order; those of a class that is not
/// known are the ones of these fields that files name.
std::vector<SpecialToken> listSpecial(const TokenizerFiles &files,
                                      llvm::ArrayRef<DefaultToken> tokens,
                                      bool isKnown = true);

/// The text of one of them.
std::string textOf(const TokenizerFiles &files,
                   llvm::ArrayRef<DefaultToken> tokens, llvm::StringRef field);

/// A token of a template, or one of its texts, and its type.
struct ClassItem {
  std::string text;
  int64_t type = 0;
};
inline constexpr llvm::StringLiteral kTextA = "$A", kTextB = "$B";

/// TemplateProcessing of these items; the ids of tokens are those that the
/// vocabulary has.
llvm::json::Object buildTemplate(llvm::ArrayRef<ClassItem> single,
                                 llvm::ArrayRef<ClassItem> pair);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSTOKENS_H
