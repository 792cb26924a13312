//===- Thread.cpp - A thread that may not be had --------------------------===//
//
// The work travels to its thread on the heap, which owns it from there.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/Thread.h"

#include <cstring>
#include <memory>
#include <utility>

using namespace heddle;

using Work = std::function<void()>;

static void *runWork(void *argument) {
  std::unique_ptr<Work> work(static_cast<Work *>(argument));
  (*work)();
  return nullptr;
}

Result<Thread> Thread::start(Work work) {
  auto owned = std::make_unique<Work>(std::move(work));
  pthread_t handle;
  int error =
      pthread_create(&handle, /*attributes=*/nullptr, runWork, owned.get());
  if (error != 0)
    return Status::error(strerror(error));
  owned.release();
  return Thread(handle);
}

Thread::Thread(Thread &&other) noexcept
    : handle(std::exchange(other.handle, std::nullopt)) {}

Thread::~Thread() {
  if (handle)
    pthread_join(*handle, /*result=*/nullptr);
}
