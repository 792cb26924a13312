//===- TextPattern.h - A regular expression as a table ----------*- C++ -*-===//
//
// Finds the matches of a pattern that the compiler has turned into an automaton
// (lib/Import/Tokenizers/Patterns): a lookup for each character, whatever the
// pattern. The match is the one that a backtracking matcher finds first, not
// the longest. The table is used in place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_TOKENIZER_TEXTPATTERN_H
#define HEDDLE_RUNTIME_TOKENIZER_TEXTPATTERN_H

#include "runtime/Result.h"
#include "runtime/tokenizer/TokenizerFormat.h"

#include <bitset>
#include <cstddef>
#include <string_view>

namespace heddle {

/// A view of a table, which must outlive it. Immutable.
class TextPattern {
public:
  /// Refuses a table that is not whole, or names a state that it lacks.
  static Result<TextPattern> parse(std::string_view bytes);

  /// Where the first match that begins at or behind `from` begins and ends, in
  /// bytes of the text, which is well-formed UTF-8; no match is empty. Both are
  /// the size of the text if there is none. Takes time for the distance to the
  /// match, but for each start that is tried it may read ahead.
  struct Match {
    size_t begin, end;
  };
  Match find(std::string_view text, size_t from) const;

private:
  Status check() const;
  uint8_t classOf(char32_t character) const {
    return classes[blocks[character / format::kPatternBlock] *
                       size_t(format::kPatternBlock) +
                   character % format::kPatternBlock];
  }
  void findBegins();
  /// The end of the match that begins at `from` in this state, or `from`.
  size_t measure(std::string_view text, size_t from, uint16_t state) const;

  const format::PatternHeader *header = nullptr;
  const uint16_t *starts = nullptr;
  const uint16_t *transitions = nullptr;
  const uint16_t *blocks = nullptr;
  const uint8_t *classes = nullptr;
  /// Of ASCII: whether a match may begin with the character.
  std::bitset<128> begins;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_TOKENIZER_TEXTPATTERN_H
