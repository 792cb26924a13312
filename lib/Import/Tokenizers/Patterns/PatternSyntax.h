//===- PatternSyntax.h - Reads a regular expression -------------*- C++ -*-===//
//
// Patterns of tokenizer.json are in Oniguruma's syntax of Ruby. What is read
// here are the parts of it that an automaton decides: no back-references, and
// looks at one character before or behind. All else is refused, with the place
// in the pattern.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNSYNTAX_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNSYNTAX_H

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// A part of a pattern.
struct PatternNode {
  enum class Kind {
    /// A character of `set`.
    Character,
    /// All of `parts`, one after the other: the empty text if there are none.
    Sequence,
    /// The first of `parts` that lets the rest match.
    Choice,
    /// `parts[0]`, at least `least` times and at most `most` times.
    Repeat,
    /// No text; the next character, or the one before, is in `set`, or there is
    /// none and `atEdge`.
    Ahead,
    Behind
  };
  enum class Mode { Greedy, Lazy, Possessive };

  static constexpr unsigned kEndless = ~0u;

  Kind kind = Kind::Sequence;
  CodePointSet set;
  bool atEdge = false;
  std::vector<PatternNode> parts;
  unsigned least = 0, most = 0;
  Mode mode = Mode::Greedy;
  /// Where it begins, in characters of the pattern.
  size_t place = 0;
};

/// An error that names the pattern, what it has, and where: "the pattern
/// 'a(?=bc)' has a look-ahead at more than one character at offset 1".
llvm::Error refusePattern(llvm::StringRef pattern, size_t place,
                          const llvm::Twine &what);

/// Reads a pattern of UTF-8.
llvm::Expected<PatternNode> parsePattern(llvm::StringRef pattern);

/// The pattern that matches this text and nothing else.
PatternNode patternOfText(llvm::StringRef text);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNSYNTAX_H
