//===- Pattern.h - Patterns of tokenizer.json -------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_PATTERN_H
#define HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_PATTERN_H

#include "lib/Import/Tokenizers/Json/Component.h"

namespace heddle {

/// The table of a component's "pattern", {"Regex": ...} or {"String": ...}.
llvm::Expected<std::string> readPattern(Component &component);

/// GPT-2's pattern, which ByteLevel has.
std::string buildGpt2Pattern();

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_TOKENIZERS_JSON_PATTERN_H
