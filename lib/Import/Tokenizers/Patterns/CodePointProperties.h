//===- CodePointProperties.h - Properties by Oniguruma's names --*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTPROPERTIES_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTPROPERTIES_H

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace heddle {

/// What \p{NAME} matches in the Oniguruma of tokenizers 0.22.2, of Unicode 16:
/// a general category or a group of them, a script, one of some binary
/// properties, or the name of a POSIX bracket. Case, spaces, '-' and '_' do not
/// count in names. Nothing if there is no such property here.
std::optional<CodePointSet> findCodePointProperty(llvm::StringRef name);

/// What [[:NAME:]] matches there: not always what \p{NAME} does.
std::optional<CodePointSet> findPosixBracket(llvm::StringRef name);

/// \s and, outside of classes, \w.
CodePointSet whiteSpace();
CodePointSet wordCharacters();

/// The set, and what Oniguruma takes for the same as one of its characters if
/// case is ignored, one character for another: k, K and U+212A.
CodePointSet foldCase(const CodePointSet &set);

/// Whether one of the characters has a form of several in another case, as
/// U+00DF has "ss".
bool foldsToSeveral(const CodePointSet &set);
/// Whether characters beside each other are such a form, or the start of one.
bool isFoldOfOne(char32_t first, char32_t second);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_CODEPOINTPROPERTIES_H
