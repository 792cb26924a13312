//===- PatternCursor.h - A place in a pattern -------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNCURSOR_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNCURSOR_H

#include "llvm/ADT/Twine.h"
#include <optional>
#include <string>

namespace heddle {

/// Reads the characters of a pattern. After a failure nothing is left to read.
class PatternCursor {
public:
  /// The pattern is UTF-8: anything else reads as U+FFFD.
  explicit PatternCursor(llvm::StringRef pattern);

  bool atEnd() const { return failed() || at == characters.size(); }
  size_t place() const { return at; }
  /// The next character; 0 at the end.
  char32_t next() const { return atEnd() ? 0 : characters[at]; }
  char32_t takeAny() { return atEnd() ? 0 : characters[at++]; }
  /// Whether these came next, and were taken.
  bool take(char32_t character);
  bool take(llvm::StringRef ascii);
  /// A decimal number of at most nine digits.
  std::optional<unsigned> takeNumber();
  /// From `least` to `most` hexadecimal digits.
  std::optional<char32_t> takeHexadecimal(unsigned least, unsigned most);
  /// Everything up to that character, which is taken, too; nothing if it does
  /// not come.
  std::optional<std::string> takeUntil(char32_t end);

  void fail(size_t place, const llvm::Twine &what);
  bool failed() const { return !sentence.empty(); }
  size_t failurePlace() const { return failedAt; }
  /// What the pattern has, for refusePattern.
  const std::string &failure() const { return sentence; }

private:
  std::u32string characters;
  size_t at = 0, failedAt = 0;
  std::string sentence;
};

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNCURSOR_H
