//===- CodePointClass.h - Sets of characters in a pattern -------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTCLASS_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTCLASS_H

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"
#include "lib/Import/Tokenizers/Patterns/PatternCursor.h"

namespace heddle {

// Each reads what begins at `place`, of which the first character is taken.

/// A class in brackets, with ranges, properties, classes of its own and `&&`.
CodePointSet parseClass(PatternCursor &cursor, bool ignoresCase);

/// The set of an escape: \s, \d, \w, \h, \p{...} and what negates them. Nothing
/// is taken if it is none.
std::optional<CodePointSet> parseSetEscape(PatternCursor &cursor, size_t place,
                                           bool inClass);

/// The character of an escape: \n, \x41, \u0041, \x{41}, \101, or a sign.
char32_t parseCharacterEscape(PatternCursor &cursor, size_t place);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTCLASS_H
