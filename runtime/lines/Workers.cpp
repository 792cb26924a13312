//===- Workers.cpp - What the workers of a run have -----------------------===//
//
// A worker without other threads has no pool: its own is enough.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/Workers.h"

#include "runtime/threads/AvailableCores.h"

#include <algorithm>
#include <utility>

using namespace heddle;

int64_t heddle::workersForAllCores(int64_t threads) {
  return std::clamp<int64_t>(availableCores() / threads, 1, kMostWorkers);
}

Result<Workers> Workers::create(const Model &model,
                                const WorkerOptions &options) {
  Workers result(model, options);
  result.equipment.resize(size_t(options.workers));
  for (Equipment &worker : result.equipment) {
    if (options.profiles)
      worker.profile = std::make_unique<Profile>(model.manifest());
    if (options.threads > 1) {
      auto pool = ThreadPool::create(options.threads);
      if (!pool.ok())
        return pool.status();
      worker.pool = std::move(*pool);
    }
    worker.session = result.makeSession(model, worker);
  }
  return result;
}

SessionOptions Workers::optionsOf(const Equipment &worker) const {
  return {worker.pool.get(), worker.profile.get(), options.inputs,
          options.cancelled, options.ensemble};
}

std::unique_ptr<Session> Workers::makeSession(const Model &model,
                                              const Equipment &worker) const {
  return std::make_unique<Session>(model, optionsOf(worker));
}

bool Workers::goOnWithCpu(int64_t worker) const {
  Equipment &own = equipment[size_t(worker)];
  Status failure = own.session->deviceFailure();
  const Model *cpu = failure.ok() ? nullptr : used->onCpu();
  if (!cpu)
    return false;
  own.session = makeSession(*cpu, own);
  std::lock_guard<std::mutex> lock(onGpu->mutex);
  --onGpu->workers;
  if (onGpu->failure.ok())
    onGpu->failure = std::move(failure);
  return true;
}

bool Workers::useGpu() const {
  std::lock_guard<std::mutex> lock(onGpu->mutex);
  return onGpu->workers > 0;
}

const Status *Workers::gpuFailure() const {
  std::lock_guard<std::mutex> lock(onGpu->mutex);
  return onGpu->failure.ok() ? nullptr : &onGpu->failure;
}

std::vector<const Profile *> Workers::profiles() const {
  std::vector<const Profile *> result;
  for (const Equipment &worker : equipment)
    result.push_back(worker.profile.get());
  return result;
}
