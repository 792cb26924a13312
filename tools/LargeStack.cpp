#include "tools/LargeStack.h"
#include <pthread.h>

static constexpr size_t kStackBytes = size_t(1) << 30;

using Body = llvm::function_ref<void()>;

static void *call(void *body) {
  (*static_cast<Body *>(body))();
  return nullptr;
}

void heddle::runOnLargeStack(Body body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  bool isStarted = pthread_create(&thread, &attributes, call, &body) == 0;
  pthread_attr_destroy(&attributes);
  if (isStarted)
    pthread_join(thread, nullptr);
  else
    body();
}
