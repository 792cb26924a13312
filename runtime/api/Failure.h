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

/// The text for a caller, who frees it with heddle_free; null where memory is
/// short.
char *copyForCaller(const std::string &text);

} // namespace heddle

#endif // HEDDLE_RUNTIME_API_FAILURE_H
