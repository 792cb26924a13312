//===- JobQueue.h - Work that several threads share -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_JOBQUEUE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_JOBQUEUE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

namespace heddle {

/// Jobs that are done in no promised order, the most expensive of those that
/// are there first: a long one that starts last is what everybody waits for.
template <typename Job> class JobQueue {
public:
  /// `cost` is compared with that of other jobs, nothing more. A job may add
  /// others while it runs.
  void add(uint64_t cost, Job job) {
    std::lock_guard<std::mutex> lock(mutex);
    jobs.emplace(cost, std::move(job));
    changed.notify_one();
  }

  /// Runs jobs on the calling thread, of which there may be several, until none
  /// is left and none is running that might add one.
  void work(llvm::function_ref<void(Job &)> run) {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return !jobs.empty() || running == 0; });
      if (jobs.empty())
        return;
      Job job = std::move(jobs.begin()->second);
      jobs.erase(jobs.begin());
      ++running;
      lock.unlock();
      run(job);
      lock.lock();
      --running;
      changed.notify_all();
    }
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::multimap<uint64_t, Job, std::greater<uint64_t>> jobs;
  unsigned running = 0;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_JOBQUEUE_H
