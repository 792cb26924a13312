//===- BatchPipeline.h - Batches through workers, in order ------*- C++ -*-===//
//
// Workers take batches, work on them and put the results back. There is no
// thread besides them: whoever takes a batch reads it, and whoever puts the
// result that is next in order writes it, with those that waited behind it. A
// slow batch holds up the output but not the other workers, until they are a
// few batches each ahead of it; so memory does not grow with the input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_BATCHPIPELINE_H
#define HEDDLE_TOOLS_BATCHPIPELINE_H

#include "runtime/Result.h"
#include "tools/SourceReader.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One run over one input. take() and put() are for the workers that run()
/// starts.
class BatchPipeline {
public:
  /// What stands at both ends. Neither read nor write is called by two threads
  /// at a time, and nothing is read behind a last batch.
  struct Ends {
    std::function<SourceReader::Batch()> read;
    std::function<Status(const std::vector<std::string> &)> write;
    /// Makes a read() that waits for input return, with any batch.
    std::function<void()> interrupt;
  };
  /// How far the workers may be ahead of the output, in batches a worker:
  /// enough for a batch that takes a few times as long as the others.
  static constexpr int64_t kWindow = 4;

  struct Task {
    int64_t number;
    SourceReader::Batch batch;
  };
  struct Outcome {
    std::vector<std::string> lines;
    /// A failure ends the run, once these lines are written.
    Status status;
  };

  BatchPipeline(Ends ends, int64_t workers);

  /// Calls `work` in as many threads as there are workers, this one included,
  /// and waits for them. `work` returns when take() has nothing more for it.
  /// Fails, in the order of the input, as the first outcome or write does, and
  /// before anything is read where a thread cannot be started.
  Status run(const std::function<void()> &work);

  /// The next batch, or nothing: the input is at its end, or the run failed.
  std::optional<Task> take();
  /// The outcome of each task that was taken. Writes it when its turn comes.
  void put(int64_t number, Outcome outcome);

private:
  std::optional<Outcome> &slot(int64_t number) {
    return outcomes[static_cast<size_t>(number) % outcomes.size()];
  }
  void stop(Status status);

  const Ends ends;
  const int64_t workers;

  /// Guards all that follows. Never held while a thread reads or writes.
  std::mutex mutex;
  /// A batch can be read, or none will be.
  std::condition_variable mayTake;
  /// Those behind `written`, as a ring.
  std::vector<std::optional<Outcome>> outcomes;
  int64_t taken = 0;
  int64_t written = 0;
  bool reading = false;
  bool writing = false;
  bool ended = false;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_BATCHPIPELINE_H
