//===- RuntimeErrors.h - Errors of the runtime as LLVM's --------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_RUNTIMEERRORS_H
#define HEDDLE_TOOLS_RUNTIMEERRORS_H

#include "lib/Support/Error.h"
#include "runtime/Result.h"

namespace heddle {

inline llvm::Error toError(const Status &status) {
  return status.ok() ? llvm::Error::success() : makeError(status.message());
}

template <typename T> llvm::Expected<T> toExpected(Result<T> result) {
  if (!result.ok())
    return makeError(result.message());
  return std::move(*result);
}

} // namespace heddle

#endif // HEDDLE_TOOLS_RUNTIMEERRORS_H
