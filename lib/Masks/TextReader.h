//===- TextReader.h - Words of a text, and where they stand -----*- C++ -*-===//
//
// What the parsers of this folder share: the next word of a text that somebody
// has written on a command line, and errors that point at a place in it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_MASKS_TEXTREADER_H
#define HEDDLE_LIB_MASKS_TEXTREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// A mistake in a text: a sentence, and below it two lines, that of the text
/// and one with a caret under the place.
class TextError : public llvm::ErrorInfo<TextError> {
public:
  static char ID;

  TextError(llvm::StringRef text, size_t place, std::string sentence);

  llvm::StringRef getSentence() const { return sentence; }
  /// The two lines, each with its line feed.
  llvm::StringRef getExcerpt() const { return excerpt; }
  /// Says in front of the sentence where the text comes from.
  void prepend(llvm::StringRef origin) { sentence.insert(0, origin.str()); }

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string sentence, excerpt;
};

/// Takes a text from its front. White space stands anywhere between words. The
/// text has to outlive the reader.
class TextReader {
public:
  explicit TextReader(llvm::StringRef text) : text(text) { skipSpace(); }

  bool isAtEnd() const { return at == text.size(); }
  /// Where the next word begins.
  size_t place() const { return at; }
  /// Where the last word ended.
  size_t lastEnd() const { return end; }
  llvm::StringRef textBetween(size_t begin, size_t end) const {
    return text.slice(begin, end);
  }

  /// Whether the next character is `mark`, which is taken then.
  bool take(char mark);
  /// The letters, digits, underscores and those of `more` that are next, with
  /// other letters than ASCII's behind the first; perhaps none.
  llvm::StringRef takeWord(llvm::StringRef more = "");

  /// The error that `sentence` is, at a place.
  llvm::Error error(size_t place, const llvm::Twine &sentence) const;
  /// "expected WHAT, found ...", at the next word.
  llvm::Error expected(const llvm::Twine &what) const;

private:
  void skipSpace();

  llvm::StringRef text;
  size_t at = 0, end = 0;
};

} // namespace heddle

#endif // HEDDLE_LIB_MASKS_TEXTREADER_H
