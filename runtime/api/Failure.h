//===- Failure.h - Why a call of heddle.h failed ----------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_API_FAILURE_H
#define HEDDLE_RUNTIME_API_FAILURE_H

#include "runtime/Result.h"
#include "runtime/heddle.h"

#include <string>

namespace heddle {

/// Keeps the sentence of a failure for this thread's heddle_error. Returns
/// HEDDLE_OK for a success, which leaves an earlier sentence alone.
heddle_status report(const Status &status, heddle_status kind = HEDDLE_FAILED);

/// Of a call that nothing can be right with.
inline heddle_status reportMisuse(const Status &status) {
  return report(status, HEDDLE_MISUSED);
}

/// Gives a caller a copy of these bytes, with a NUL behind them, that
/// heddle_free frees. Null, and a failure, if memory is short.
heddle_status giveCopy(const void *bytes, size_t size, void **copy);
/// The same of a text.
heddle_status giveText(const std::string &text, char **copy);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_FAILURE_H
