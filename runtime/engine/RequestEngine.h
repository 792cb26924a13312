//===- RequestEngine.h - What runs requests as they come --------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_ENGINE_REQUESTENGINE_H
#define HEDDLE_RUNTIME_ENGINE_REQUESTENGINE_H

#include "runtime/Result.h"

#include <cstdint>

namespace heddle {

struct EngineStatistics {
  /// Requests that have been submitted and finished, in whatever way, and those
  /// that have a slot.
  int64_t submitted = 0, finished = 0, running = 0;
  /// Calls for generated tokens and for prompts, and the rows of both. Of an
  /// encoder batches and tokens.
  int64_t steps = 0, stepRows = 0, prompts = 0, promptRows = 0;
  /// Tokens that were guessed, and those of them that were right.
  int64_t guesses = 0, rightGuesses = 0;
  /// Tokens of prompts that stood in a slot already.
  int64_t sharedTokens = 0;
};

/// One thread runs it; any thread cancels and asks for statistics.
class RequestEngine {
public:
  virtual ~RequestEngine() = default;

  /// Ends a request at the next step with the error "the request was
  /// cancelled"; nothing if it has finished.
  virtual void cancel(uint64_t number) = 0;
  /// Goes on with all requests; whether one is left. Fails if the device does,
  /// which ends all requests.
  virtual Result<bool> step() = 0;
  virtual EngineStatistics statistics() const = 0;

  /// Steps until no request is left.
  Status run() {
    while (true) {
      Result<bool> isLeft = step();
      if (!isLeft.ok() || !*isLeft)
        return isLeft.status();
    }
  }
};

/// Of a request that somebody has cancelled.
inline Status cancellation() {
  return Status::error("the request was cancelled");
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_REQUESTENGINE_H
