//===- Workers.h - What the workers of a run have ---------------*- C++ -*-===//
//
// Several workers run batches over one model at the same time, each with a
// session, threads and a profile of its own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_WORKERS_H
#define HEDDLE_RUNTIME_LINES_WORKERS_H

#include "runtime/Result.h"
#include "runtime/session/Model.h"
#include "runtime/session/Profile.h"
#include "runtime/session/Session.h"
#include "runtime/threads/ThreadPool.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle {

inline constexpr int64_t kMostWorkers = 256;

struct WorkerOptions {
  /// Batches that run at the same time, and threads that share the work of
  /// each.
  int64_t workers = 1, threads = 1;
  /// Whether each counts what it does in a profile.
  bool profiles = false;
  /// As SessionOptions has them.
  InputSettings inputs = {};
  const std::atomic<bool> *cancelled = nullptr;
  const Ensemble *ensemble = nullptr;
};

/// As many as keep all cores busy that this process may use, with so many
/// threads each; at most kMostWorkers.
int64_t workersForAllCores(int64_t threads);

/// Borrows the model. One run at a time.
class Workers {
public:
  /// Fails if the system refuses a thread.
  static Result<Workers> create(const Model &model,
                                const WorkerOptions &options);

  const Model &model() const { return *used; }
  /// Whether who runs them is asked to stop. Any thread.
  bool isCancelled() const { return options.cancelled && *options.cancelled; }
  int64_t count() const { return int64_t(equipment.size()); }
  /// The session of a worker, from 0, which keeps its memory from run to run.
  Session &session(int64_t worker) const {
    return *equipment[size_t(worker)].session;
  }
  /// What that session may use.
  SessionOptions sessionOptions(int64_t worker) const {
    return optionsOf(equipment[size_t(worker)]);
  }
  /// Gives a worker a session of Model::onCpu() if the device of its own has
  /// failed; whether it has one then. The session before is gone. By the thread
  /// of the worker.
  bool goOnWithCpu(int64_t worker) const;
  /// Whether a GPU has the work, or some of it; and why the CPU has what a GPU
  /// might have, null if nothing has failed: what it points to stays as it
  /// is. Any thread may ask, also while others work.
  bool useGpu() const;
  const Status *gpuFailure() const;
  /// Of each worker; null if nobody asked for them.
  std::vector<const Profile *> profiles() const;

private:
  struct Equipment {
    std::unique_ptr<ThreadPool> pool;
    std::unique_ptr<Profile> profile;
    std::unique_ptr<Session> session;
  };
  /// How many are on a GPU, and what failed first there.
  struct OnGpu {
    std::mutex mutex;
    int64_t workers;
    Status failure;
  };
  Workers(const Model &model, const WorkerOptions &options)
      : used(&model), options(options),
        onGpu(new OnGpu{
            {}, model.isOnGpu() ? options.workers : 0, model.gpuFailure()}) {}
  SessionOptions optionsOf(const Equipment &worker) const;
  std::unique_ptr<Session> makeSession(const Model &model,
                                       const Equipment &worker) const;

  const Model *used;
  WorkerOptions options;
  /// Each of one thread at a time.
  mutable std::vector<Equipment> equipment;
  std::unique_ptr<OnGpu> onGpu;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_WORKERS_H
