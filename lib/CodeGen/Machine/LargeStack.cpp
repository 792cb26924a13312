//===- LargeStack.cpp - Threads of POSIX with 1 GB of stack ---------------===//
//
// std::thread takes no size of a stack, so the threads are those of POSIX. The
// size only reserves address space. A thread that does not start is no error:
// `body` takes its work from a common source, so that fewer threads do the same
// work.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/LargeStack.h"
#include "llvm/ADT/SmallVector.h"
#include <pthread.h>

static constexpr size_t kStackBytes = size_t(1) << 30;

using Body = llvm::function_ref<void()>;

static void *call(void *body) {
  (*static_cast<Body *>(body))();
  return nullptr;
}

void heddle::runOnLargeStacks(unsigned threads, Body body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  llvm::SmallVector<pthread_t> started;
  pthread_t thread;
  while (started.size() < threads &&
         pthread_create(&thread, &attributes, call, &body) == 0)
    started.push_back(thread);
  pthread_attr_destroy(&attributes);
  if (started.empty())
    body();
  for (pthread_t each : started)
    pthread_join(each, nullptr);
}
