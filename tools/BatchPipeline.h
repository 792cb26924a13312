//===- BatchPipeline.h - Batches through workers, in order ------*- C++ -*-===//
//
// Lines are read a window at a time, and the batches of a window may hold them
// in any order. Workers take batches, work on them and put the results back.
// There is no thread besides them: whoever finds no batch reads the next
// window, and whoever puts the last result of the window that is next in order
// writes it, with those that waited behind it. A slow batch holds up the output
// but not the other workers, until they are some batches each ahead of it; so
// memory does not grow with the input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_BATCHPIPELINE_H
#define HEDDLE_TOOLS_BATCHPIPELINE_H

#include "runtime/Result.h"
#include "runtime/Session.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Sentences that run together.
struct Batch {
  std::vector<TokenIds> sources;
  /// Where each one's line stands in the window.
  std::vector<size_t> lines;
  /// What is said of each one's target: what it begins with, or all of it.
  /// Empty where nobody says anything.
  std::vector<TokenIds> targets = {};
};

/// Consecutive lines of the input.
struct Window {
  /// Those in no batch have an empty answer.
  size_t lineCount = 0;
  std::vector<Batch> batches;
  /// No line follows: the input is at its end, or `failure` says why not.
  bool last = false;
  /// About the line behind the window, whose lines can still be answered.
  Status failure = Status::success();
};

/// One run over one input. take() and put() are for the workers that run()
/// starts.
class BatchPipeline {
  /// A window whose answers are gathered.
  struct OpenWindow {
    std::vector<std::string> answers;
    /// Its batches, and those without answers.
    int64_t batches, open;
    /// The first line that has no answer because of `failure`.
    size_t end;
    Status failure;

    void fail(size_t line, Status status);
  };

public:
  /// What stands at both ends. Neither read nor write is called by two threads
  /// at a time, and nothing is read behind a last window.
  struct Ends {
    std::function<Window()> read;
    std::function<Status(const std::vector<std::string> &)> write;
    /// Makes a read() that waits for input return, with any window.
    std::function<void()> interrupt;
  };
  /// How far the workers may be ahead of the output before one of them reads
  /// more, in batches a worker: as much as a window has, so that the last batch
  /// of one runs beside the first of the next.
  static constexpr int64_t kAhead = 16;

  /// A batch, and where its answers go.
  struct Task {
    Batch batch;
    OpenWindow *window;
  };
  /// An answer for each sentence of the batch; or a failure, which ends the run
  /// once the lines before the batch are written.
  using Answers = Result<std::vector<std::string>>;

  BatchPipeline(Ends ends, int64_t workers);

  /// Calls `work` in as many threads as there are workers, this one included,
  /// with their numbers from 0, and waits for them. `work` returns when take()
  /// has nothing more for it. Fails as the first write or batch does, in the
  /// order of the input, and before anything is read where a thread cannot be
  /// started.
  Status run(const std::function<void(int64_t)> &work);

  /// The next batch, or nothing: the input is at its end, or the run failed.
  std::optional<Task> take();
  /// The answers of each task that was taken.
  void put(const Task &task, Answers answers);

private:
  using Lock = std::unique_lock<std::mutex>;

  bool mayRead() const;
  void read(Lock &lock);
  void writeFinished(Lock &lock);
  void stop(Status status);

  const Ends ends;
  const int64_t workers;

  /// Guards all that follows. Never held while a thread reads or writes.
  std::mutex mutex;
  /// A batch can be taken or a window read, or there will be none.
  std::condition_variable mayTake;
  /// Read and not yet written, in order.
  std::deque<OpenWindow> windows;
  std::deque<Task> waiting;
  /// The batches of `windows`.
  int64_t unwritten = 0;
  bool reading = false;
  bool writing = false;
  bool inputEnded = false;
  bool stopped = false;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_BATCHPIPELINE_H
