//===- StopStrings.h - Texts that end a text --------------------*- C++ -*-===//
//
// A text ends in front of the first of these that it comes to, whatever tokens
// spell it. As it is generated nothing is told that may turn out to begin one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_API_STOPSTRINGS_H
#define HEDDLE_RUNTIME_API_STOPSTRINGS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// Immutable: any number of threads.
class StopStrings {
public:
  /// None of them is empty.
  explicit StopStrings(std::vector<std::string> strings = {})
      : strings(std::move(strings)) {}

  bool empty() const { return strings.empty(); }
  /// Bytes of the longest one.
  size_t longest() const;
  /// Where the first one begins, at `least` or later, that ends behind `from`;
  /// npos if there is none.
  size_t find(std::string_view text, size_t from, size_t least) const;
  /// How many bytes at the end of a text one of them may begin with.
  size_t held(std::string_view text) const;

private:
  std::vector<std::string> strings;
};

/// The end of a text, whose last token has made it of the one before: where one
/// of them begins that was not there before, behind the first `given` bytes, or
/// else its size.
size_t endOfText(std::string_view text, std::string_view before,
                 const StopStrings &stops, size_t given = 0);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_STOPSTRINGS_H
