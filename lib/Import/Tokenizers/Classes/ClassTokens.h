//===- ClassTokens.h - Special tokens of a tokenizer's class ----*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_CLASSTOKENS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_CLASSTOKENS_H

#include "lib/Import/Tokenizers/TokenizerFiles.h"
#include "llvm/ADT/ArrayRef.h"

namespace heddle {

/// A special token that a class of transformers has if no file names one; an
/// empty text is none, and says what form the text of a file has.
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

/// The special tokens of a class that has these by default, and those that
/// files name.
std::vector<SpecialToken> listSpecial(const TokenizerFiles &files,
                                      llvm::ArrayRef<DefaultToken> tokens);

/// The text of one of them.
std::string textOf(const TokenizerFiles &files,
                   llvm::ArrayRef<DefaultToken> tokens, llvm::StringRef field);

/// A token of a template, or one of its texts, and its type.
struct ClassItem {
  std::string text;
  int64_t type = 0;
  /// Of a token: its id, if it is not the one that the vocabulary has.
  std::optional<int64_t> id = std::nullopt;
};
inline constexpr llvm::StringLiteral kTextA = "$A", kTextB = "$B";

/// TemplateProcessing of these items.
llvm::json::Object buildTemplate(llvm::ArrayRef<ClassItem> single,
                                 llvm::ArrayRef<ClassItem> pair);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_CLASSES_CLASSTOKENS_H
