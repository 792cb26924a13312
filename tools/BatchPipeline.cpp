//===- BatchPipeline.cpp - Batches through workers, in order --------------===//
//
// A monitor: one mutex, one condition. Each change that lets a worker go on
// wakes one of them, since only one can read; an end wakes them all.
//
//===----------------------------------------------------------------------===//

#include "tools/BatchPipeline.h"

#include "runtime/Thread.h"

#include <utility>

using namespace heddle;

BatchPipeline::BatchPipeline(Ends ends, int64_t workers)
    : ends(std::move(ends)), workers(workers),
      outcomes(static_cast<size_t>(kWindow * workers)) {}

Status BatchPipeline::run(const std::function<void()> &work) {
  std::vector<Thread> threads;
  {
    // Nobody takes a batch before all workers are there.
    std::lock_guard<std::mutex> lock(mutex);
    for (int64_t worker = 2; worker <= workers && !ended; ++worker) {
      Result<Thread> thread = Thread::start(work);
      if (thread.ok())
        threads.push_back(std::move(*thread));
      else
        stop(Status::error("cannot start worker ", worker, " of ", workers,
                           ": ", thread.message()));
    }
  }
  work();
  threads.clear(); // Waits for each.
  return failure;
}

std::optional<BatchPipeline::Task> BatchPipeline::take() {
  std::unique_lock<std::mutex> lock(mutex);
  mayTake.wait(lock, [&] {
    return ended || (!reading && taken - written < int64_t(outcomes.size()));
  });
  if (ended)
    return std::nullopt;
  reading = true;
  lock.unlock();
  SourceReader::Batch batch = ends.read();
  lock.lock();
  reading = false;
  if (ended) // By a failure, in the meantime.
    return std::nullopt;
  ended = batch.last;
  if (ended)
    mayTake.notify_all();
  else
    mayTake.notify_one();
  return Task{taken++, std::move(batch)};
}

void BatchPipeline::put(int64_t number, Outcome outcome) {
  std::unique_lock<std::mutex> lock(mutex);
  slot(number) = std::move(outcome);
  if (writing) // By another worker, who will come to it.
    return;
  writing = true;
  while (failure.ok() && slot(written)) {
    Outcome next = *std::exchange(slot(written), std::nullopt);
    lock.unlock();
    Status status = ends.write(next.lines);
    lock.lock();
    ++written;
    if (status.ok())
      status = std::move(next.status);
    if (!status.ok())
      stop(std::move(status));
    mayTake.notify_one();
  }
  writing = false;
}

/// Ends the run; the mutex is held.
void BatchPipeline::stop(Status status) {
  failure = std::move(status);
  ended = true;
  mayTake.notify_all();
  ends.interrupt();
}
