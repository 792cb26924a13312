//===- Error.h - One sentence about what is wrong ---------------*- C++ -*-===//
//
// Every failure of lib/ is an llvm::Error that holds one sentence for the user:
// lower-case start, names in quotes, expected and found, no final period. A
// tool prints it behind its own name and exits with 1.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_SUPPORT_ERROR_H
#define HEDDLE_LIB_SUPPORT_ERROR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// A failure with this sentence. Unlike createStringError, the text of a file
/// that is part of it is never taken for a printf format.
inline llvm::Error makeError(const llvm::Twine &sentence) {
  return llvm::make_error<llvm::StringError>(sentence.str(),
                                             llvm::inconvertibleErrorCode());
}

/// How a sentence shows a tensor's shape: "[256, 1536]".
inline std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, extent] : llvm::enumerate(shape))
    text += (index ? ", " : "") + std::to_string(extent);
  return text + "]";
}

} // namespace heddle

#endif // HEDDLE_LIB_SUPPORT_ERROR_H
