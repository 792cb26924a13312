//===- Thread.h - A thread that may not be had ------------------*- C++ -*-===//
//
// std::thread throws if the system refuses a thread, which the runtime,
// built without exceptions, could not catch. Here that is a Status.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_THREADS_THREAD_H
#define HEDDLE_RUNTIME_THREADS_THREAD_H

#include "runtime/Result.h"

#include <functional>
#include <optional>
#include <pthread.h>

namespace heddle {

/// Owns a running thread and waits for its end when it is destroyed. Move-only.
class Thread {
public:
  /// Runs `work` in a new thread. The error is what the system says.
  static Result<Thread> start(std::function<void()> work);

  Thread(Thread &&other) noexcept;
  Thread &operator=(Thread &&other) = delete;
  ~Thread();

private:
  explicit Thread(pthread_t handle) : handle(handle) {}

  std::optional<pthread_t> handle;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_THREADS_THREAD_H
