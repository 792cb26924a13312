//===- ThreadPool.cpp - Threads that share a loop -------------------------===//
//
// One atomic word says whether a loop is open and who is inside. The caller
// opens it, works like everybody else, closes it when no iteration is left and
// waits for those inside; from then on nobody joins, so that the next loop can
// be written down.
//
// Whoever goes to sleep says so before it looks a last time, and whoever
// changes the word looks for sleepers after it: with both in the one order of
// sequential consistency, one of the two sees the other.
//
//===----------------------------------------------------------------------===//

#include "runtime/threads/ThreadPool.h"

#include "runtime/code/FloatEnvironment.h"

#include <algorithm>

using namespace heddle;

/// About 100 microseconds: kernels of one call follow each other faster, and
/// the last tasks of a loop seldom take longer. To wake a thread takes as long.
static constexpr int kSpins = 3000;

static constexpr uint64_t kOpen = 1, kInside = 2;

static uint32_t loopNumber(uint64_t state) {
  return static_cast<uint32_t>(state >> 32);
}
static bool isEmpty(uint64_t state) {
  return static_cast<uint32_t>(state) < kInside;
}

/// Whether `condition` came true within a short while.
template <typename Condition> static bool spin(Condition condition) {
  for (int i = 0; i < kSpins; ++i) {
    if (condition())
      return true;
    _mm_pause();
  }
  return false;
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int64_t threads) {
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads));
  for (int64_t number = 1; number < threads; ++number) {
    Result<Thread> thread = Thread::start([pool = pool.get(), number] {
      pool->work(static_cast<size_t>(number));
    });
    if (!thread.ok())
      return Status::error("cannot start thread ", number + 1, " of ", threads,
                           ": ", thread.message());
    pool->threads.push_back(std::move(*thread));
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stopping = true;
  {
    std::lock_guard<std::mutex> lock(mutex);
  }
  loopOpened.notify_all();
  threads.clear(); // Waits for each.
}

namespace {
/// A task whose iteration 0 is another one's.
struct ShiftedTask {
  HeddleTask task;
  void *context;
  int64_t first;

  static void run(void *context, void *scratch, int64_t begin, int64_t end) {
    auto *self = static_cast<ShiftedTask *>(context);
    self->task(self->context, scratch, self->first + begin, self->first + end);
  }
};
} // namespace

void ThreadPool::parallelFor(void *pool, int64_t count, HeddleTask task,
                             void *context, void *scratch,
                             int64_t scratchBytes) {
  // More iterations than a range holds are several loops.
  if (count > TaskRange::kMostIterations) {
    for (int64_t first = 0; first < count;
         first += TaskRange::kMostIterations) {
      ShiftedTask shifted = {task, context, first};
      parallelFor(pool, std::min(count - first, TaskRange::kMostIterations),
                  ShiftedTask::run, &shifted, scratch, scratchBytes);
    }
    return;
  }
  auto &self = *static_cast<ThreadPool *>(pool);
  self.task = task;
  self.context = context;
  self.scratch = static_cast<char *>(scratch);
  self.scratchBytes = scratchBytes;
  int64_t threads = self.size(), number = 0;
  for (TaskRange &range : self.ranges) {
    range.assign({count * number / threads, count * (number + 1) / threads});
    ++number;
  }
  uint64_t loop = loopNumber(self.state.load(std::memory_order_relaxed)) + 1;
  self.state.store(loop << 32 | kOpen);
  // One iteration is the caller's.
  int64_t wanted = std::min(self.sleepers.load(), count - 1);
  if (wanted > 0) {
    {
      std::lock_guard<std::mutex> lock(self.mutex);
    }
    for (; wanted > 0; --wanted)
      self.loopOpened.notify_one();
  }
  self.runTasks(0);
  self.state.fetch_sub(kOpen);
  self.waitForThreads();
}

/// First a thread's own iterations, then those that others have not come to.
void ThreadPool::runTasks(size_t number) {
  void *own = scratch + static_cast<int64_t>(number) * scratchBytes;
  for (TaskRun run; !(run = ranges[number].takeFirst()).isEmpty();)
    task(context, own, run.begin, run.end);
  for (size_t other = 1; other < ranges.size(); ++other) {
    TaskRange &range = ranges[(number + other) % ranges.size()];
    for (TaskRun run; !(run = range.takeLast()).isEmpty();)
      task(context, own, run.begin, run.end);
  }
}

void ThreadPool::waitForThreads() {
  auto haveLeft = [&] { return isEmpty(state); };
  if (spin(haveLeft))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps = true;
  threadsLeft.wait(lock, haveLeft);
  callerSleeps = false;
}

/// What a thread of the pool does all its life.
void ThreadPool::work(size_t number) {
  FloatEnvironment environment;
  uint32_t lastLoop = 0;
  auto mayGoOn = [&] {
    uint64_t now = state;
    return stopping || ((now & kOpen) && loopNumber(now) != lastLoop);
  };
  while (!stopping) {
    if (join(lastLoop)) {
      runTasks(number);
      leave();
    } else if (!spin(mayGoOn)) {
      std::unique_lock<std::mutex> lock(mutex);
      ++sleepers;
      loopOpened.wait(lock, mayGoOn);
      --sleepers;
    }
  }
}

/// Enters the loop that is open, unless it is the last one.
bool ThreadPool::join(uint32_t &lastLoop) {
  uint64_t now = state;
  while ((now & kOpen) && loopNumber(now) != lastLoop)
    if (state.compare_exchange_weak(now, now + kInside)) {
      lastLoop = loopNumber(now);
      return true;
    }
  return false;
}

void ThreadPool::leave() {
  uint64_t before = state.fetch_sub(kInside);
  if (isEmpty(before - kInside) && callerSleeps) {
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    threadsLeft.notify_one();
  }
}
