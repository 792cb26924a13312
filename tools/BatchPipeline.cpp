//===- BatchPipeline.cpp - Batches through workers, in order --------------===//
//
// A monitor: one mutex, one condition. Windows stay where they are while their
// batches run, since a deque moves nothing when it grows or shrinks at an end.
//
//===----------------------------------------------------------------------===//

#include "tools/BatchPipeline.h"

#include "runtime/Thread.h"

#include <algorithm>
#include <utility>

using namespace heddle;

void BatchPipeline::OpenWindow::fail(size_t line, Status status) {
  if (line >= end && !failure.ok())
    return;
  end = line;
  failure = std::move(status);
}

BatchPipeline::BatchPipeline(Ends ends, int64_t workers)
    : ends(std::move(ends)), workers(workers) {}

Status BatchPipeline::run(const std::function<void(int64_t)> &work) {
  std::vector<Thread> threads;
  {
    // Nobody takes a batch before all workers are there.
    std::lock_guard<std::mutex> lock(mutex);
    for (int64_t worker = 1; worker < workers && !stopped; ++worker) {
      Result<Thread> thread = Thread::start([&work, worker] { work(worker); });
      if (thread.ok())
        threads.push_back(std::move(*thread));
      else
        stop(Status::error("cannot start worker ", worker + 1, " of ", workers,
                           ": ", thread.message()));
    }
  }
  work(0);
  threads.clear(); // Waits for each.
  return failure;
}

bool BatchPipeline::mayRead() const {
  return !reading && unwritten < kAhead * workers;
}

std::optional<BatchPipeline::Task> BatchPipeline::take() {
  Lock lock(mutex);
  for (;;) {
    mayTake.wait(lock, [&] {
      return stopped || inputEnded || !waiting.empty() || mayRead();
    });
    if (stopped)
      return std::nullopt;
    if (!waiting.empty()) {
      Task task = std::move(waiting.front());
      waiting.pop_front();
      return task;
    }
    if (inputEnded)
      return std::nullopt;
    read(lock);
  }
}

/// Opens the next window.
void BatchPipeline::read(Lock &lock) {
  reading = true;
  lock.unlock();
  Window window = ends.read();
  lock.lock();
  reading = false;
  if (stopped) // By a failure, in the meantime.
    return;
  inputEnded = window.last;
  int64_t batches = int64_t(window.batches.size());
  windows.push_back({std::vector<std::string>(window.lineCount), batches,
                     batches, window.lineCount, std::move(window.failure)});
  unwritten += batches;
  for (Batch &batch : window.batches)
    waiting.push_back({std::move(batch), &windows.back()});
  mayTake.notify_all();
  if (batches == 0)
    writeFinished(lock);
}

void BatchPipeline::put(const Task &task, Answers answers) {
  Lock lock(mutex);
  const std::vector<size_t> &lines = task.batch.lines;
  if (answers.ok())
    for (size_t i = 0; i < lines.size(); ++i)
      task.window->answers[lines[i]] = std::move((*answers)[i]);
  else
    task.window->fail(*std::min_element(lines.begin(), lines.end()),
                      answers.status());
  if (--task.window->open == 0)
    writeFinished(lock);
}

/// Writes the windows that are complete, up to the first that is not.
void BatchPipeline::writeFinished(Lock &lock) {
  if (writing) // By another worker, who will come to it.
    return;
  writing = true;
  while (!stopped && !windows.empty() && windows.front().open == 0) {
    OpenWindow &window = windows.front();
    lock.unlock();
    window.answers.resize(window.end);
    Status status = ends.write(window.answers);
    lock.lock();
    if (status.ok())
      status = std::move(window.failure);
    unwritten -= window.batches;
    windows.pop_front();
    if (!status.ok())
      stop(std::move(status));
    mayTake.notify_all();
  }
  writing = false;
}

/// Ends the run; the mutex is held.
void BatchPipeline::stop(Status status) {
  failure = std::move(status);
  stopped = true;
  mayTake.notify_all();
  ends.interrupt();
}
