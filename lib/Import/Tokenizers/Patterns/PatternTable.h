//===- PatternTable.h - A pattern as a table of states ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNTABLE_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNTABLE_H

#include "lib/Import/Tokenizers/Patterns/CodePointSet.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// The table of a regular expression, as runtime/tokenizer/TokenizerFormat.h
/// lays it out. Refuses, with the place in the pattern, what PatternSyntax.h
/// does not read; and patterns that match the empty text, or would have more
/// than 20,000 states or 255 classes of characters.
llvm::Expected<std::string> buildPatternTable(llvm::StringRef pattern);

/// The same of the pattern that matches a text, which is not empty.
llvm::Expected<std::string> buildTextTable(llvm::StringRef text);

/// The same of the pattern that matches a character of one of these sets, or as
/// many of one set as stand beside each other.
std::string buildSetTable(llvm::ArrayRef<CodePointSet> sets, bool repeats);

/// The same of the pattern that matches a character of one of these sets, and
/// as many of it or of `others` as stand behind it.
std::string buildRunTable(llvm::ArrayRef<CodePointSet> sets,
                          const CodePointSet &others);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_PATTERNS_PATTERNTABLE_H
