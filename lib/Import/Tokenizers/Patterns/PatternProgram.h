//===- PatternProgram.h - A pattern as an automaton with choices -*- C++
//-*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNPROGRAM_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNPROGRAM_H

#include "lib/Import/Tokenizers/Patterns/PatternSyntax.h"

namespace heddle {

struct PatternInstruction {
  enum class Kind {
    /// Takes a character of a set, then goes on at `next`.
    Character,
    /// Tries `next`, and where that fails `other`.
    Split,
    /// Goes on at `next` if the character ahead, or behind, is in a set, or
    /// does not exist and `atEdge`.
    Ahead,
    Behind,
    /// What was taken is a match.
    Match
  };

  Kind kind = Kind::Match;
  /// A number in PatternProgram::sets.
  unsigned set = 0;
  bool atEdge = false;
  unsigned next = 0, other = 0;
};

/// A backtracking matcher would follow it as it is: the first way to Match in
/// the order of choices is the match.
struct PatternProgram {
  std::vector<CodePointSet> sets;
  std::vector<PatternInstruction> instructions;
  unsigned start = 0;
};

/// The program of a pattern, whose text is for errors. Refuses endless
/// repetitions of what may be empty.
llvm::Expected<PatternProgram> buildPatternProgram(const PatternNode &node,
                                                   llvm::StringRef pattern);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNPROGRAM_H
