//===- Nesting.h - How deep a text in MLIR nests ----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_NESTING_H
#define HEDDLE_LIB_IMPORT_NESTING_H

#include "llvm/Support/Error.h"

namespace heddle {

/// Models nest brackets about ten deep.
inline constexpr unsigned kMostNesting = 256;

/// MLIR's parser recurses into brackets and has no limit of its own: an error
/// if those of `text`, read from `path`, nest deeper than kMostNesting. What
/// is no MLIR otherwise is the parser's to refuse.
llvm::Error checkNesting(llvm::StringRef text, llvm::StringRef path);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_NESTING_H
