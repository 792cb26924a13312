//===- TextPool.h - The texts of functions, each once -----------*- C++ -*-===//
//
// A function looks the same behind most passes, and code that is unrolled
// repeats itself but for the numbers of its values. A text is kept once; in it,
// a value's number is written as its distance from the number before, so that
// what repeats is equal, and then it is deflated: 80 MB become 5. Browsers
// inflate a function when it is looked at.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_EXPLORER_TEXTPOOL_H
#define HEDDLE_LIB_EXPLORER_TEXTPOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace heddle {

/// A line, from 0, and the number of the names that it has in the page.
struct NamedLine {
  unsigned line, names;
};

/// `text` with each number of a value (`%12`, `%name_12`) as the distance from
/// the number before, of values of the same name: `%~1`, `%name_~1`.
std::string shortenNumbers(llvm::StringRef text);

class TextPool {
public:
  /// The number of a text: lines of a function, and which of them have names.
  /// Before it is deflated it is a header, "LINE:NAMES ..." with lines as the
  /// distance from the one before, a line break and the text. The header begins
  /// with "~" if numbers are distances.
  size_t add(llvm::StringRef text, llvm::ArrayRef<NamedLine> named);

  /// In base64 of zlib's format.
  llvm::ArrayRef<std::string> getTexts() const { return texts; }

private:
  std::vector<std::string> texts;
  llvm::StringMap<size_t> known;
};

} // namespace heddle

#endif // HEDDLE_LIB_EXPLORER_TEXTPOOL_H
