//===- BatchPipeline.h - Lines through workers, in order --------*- C++ -*-===//
//
// Lines are read a window at a time. Ranges of them become ids, then the window
// is divided into batches, which may hold its lines in any order; and the
// results of batches come out as lines again. There is no thread besides the
// workers: whoever finds nothing to do reads the next window, whoever encodes
// the last range of a window divides it, and whoever brings the last result of
// the window that is next in order writes it, with those that waited behind it.
// A slow batch holds up the output but not the other workers, until they are
// some lines each ahead of it; so memory does not grow with the input.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_BATCHPIPELINE_H
#define HEDDLE_RUNTIME_LINES_BATCHPIPELINE_H

#include "runtime/Result.h"
#include "runtime/lines/Answer.h"
#include "runtime/lines/LengthBatches.h"
#include "runtime/lines/Lines.h"
#include "runtime/session/Session.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// What became of a line.
struct LineAnswer {
  LineAnswer(Answer answer = {}) : answer(std::move(answer)) {}

  /// Puts the answer to a further window behind those of the ones before it.
  void addWindow(Answer more) {
    append(answer, std::move(more));
    ++windows;
  }

  Answer answer;
  int32_t windows = 1;
  /// A sentence that names the line: why it has failed, and so has no answer,
  /// or what was cut from it. Empty for others.
  std::string notice = {};
  bool hasFailed = false;
  /// The sentence's.
  std::string kept = {};
};

/// The ids of a line, and what is said of its target. No source: the answer is
/// empty.
struct Sentence {
  TokenIds source, target;
  /// As LineAnswer has them.
  std::string notice = {};
  bool hasFailed = false;
  /// See SourceFeatures.
  TokenIds types = {};
  int32_t promptTokens = 0;
  std::vector<TokenPlace> places = {};
  std::vector<TokenIds> others = {};
  /// Text of the line that the writer of its answer needs.
  std::string kept = {};
  /// Further windows of a long text, which have sources, types and places
  /// alone. Their answers stand behind that of the first one, in order.
  std::vector<Sentence> windows = {};
};

/// What became of a batch: an answer for each sentence, or a failure, which
/// ends the run once the lines before it are written. It is of one sentence,
/// beside which others have answers, or of the whole batch.
struct Answers {
  Answers(std::vector<Answer> all) : all(std::move(all)) {}
  Answers(Status failure) : failure(std::move(failure)) {}

  /// As many as sentences, or none.
  std::vector<Answer> all;
  Status failure = Status::success();
  std::optional<size_t> failed = {};
  /// Sentences that have failed without an end to the run, and why. Their
  /// answers are empty.
  std::vector<std::pair<size_t, Status>> skipped = {};
};

/// One run over one input.
class BatchPipeline {
public:
  struct Limits {
    /// What is read together.
    LineLimits window;
    /// What may be read and not yet written before more is read.
    LineLimits ahead;
  };

  /// What happens to lines. Neither read nor write is called by two threads at
  /// a time, and nothing is read behind last lines.
  struct Stages {
    std::function<Lines(const LineLimits &)> read;
    /// Called by any thread. Fails for a line that ends the run once those
    /// before it are written.
    std::function<Result<Sentence>(int64_t number, const Line &line)> encode;
    /// Whether that waits for other workers: this one ends its batches first.
    std::function<bool(const Line &line)> waits = {};
    /// Divides a window; `isFull` says that it is as large as one may be.
    /// Called by any thread.
    std::function<std::vector<Batch>(Sentences sentences, bool isFull)> divide;
    std::function<Status(std::vector<LineAnswer>)> write;
    /// Makes a read() that waits for input return, with any lines, as does one
    /// that is called at the same time or later.
    std::function<void()> interrupt;
  };

  /// Answers batches one by one, on one thread.
  using Worker = std::function<Answers(const Batch &)>;

  /// Answers batches that may be under way together, on one thread.
  class Runner {
  public:
    virtual ~Runner() = default;
    /// Begins a batch, which stays until `done` has its answers: in this call,
    /// or in one of advance().
    virtual void begin(const Batch &batch,
                       std::function<void(Answers)> done) = 0;
    /// Whether a batch has begun and not ended, and whether there is room for
    /// another one beside it.
    virtual bool isBusy() const { return false; }
    virtual bool hasRoom() const { return true; }
    /// Goes on with those that have begun.
    virtual void advance() {}
  };

  BatchPipeline(const Limits &limits, Stages stages)
      : limits(limits), stages(std::move(stages)) {}

  /// Runs on as many threads as there are workers, this one included, each of
  /// which makes a worker with a number from 0. Fails as the first line, batch
  /// or write does, in the order of the input, and before anything is read
  /// if not even `least` threads can be started.
  Status
  run(int64_t workers, int64_t least,
      const std::function<std::unique_ptr<Runner>(int64_t number)> &makeRunner);
  Status run(int64_t workers, int64_t least,
             const std::function<Worker(int64_t number)> &makeWorker);

private:
  using Lock = std::unique_lock<std::mutex>;

  /// One of a long text, behind its first one.
  struct FurtherWindow {
    /// The place of its line.
    size_t line;
    Sentence sentence;
    Answer answer = {};
  };

  /// A window whose answers are gathered.
  struct OpenWindow {
    std::vector<Line> lines;
    Sentences sentences;
    std::vector<LineAnswer> answers;
    std::vector<FurtherWindow> further;
    /// What was read.
    LineLimits size;
    /// Its ranges that are not yet encoded, then its batches without answers.
    size_t open;
    bool isDivided;
    /// The first line that has no answer because of `failure`.
    size_t end;
    Status failure;

    void fail(size_t line, Status status);
    Sentences gather();
    void join();
    bool isComplete() const { return isDivided && open == 0; }
  };

  /// Lines to encode, or a batch to answer.
  struct Task {
    OpenWindow *window;
    size_t begin = 0, end = 0;
    std::optional<Batch> batch = {};
  };

  void work(Runner &runner);
  std::optional<Task> take(bool mayWait);
  bool isStopped();
  bool mayRead() const;
  bool isOver() const;
  void read(Lock &lock);
  bool waits(const Task &task) const;
  void encode(const Task &task);
  void divide(Lock &lock, OpenWindow &window);
  void put(const Task &task, Answers answers);
  void writeFinished(Lock &lock);
  void stop(Lock &lock, Status status);

  const Limits limits;
  const Stages stages;

  /// Guards all that follows. Never held while a stage works.
  std::mutex mutex;
  /// There is a task, or a window to read, or nothing more to come.
  std::condition_variable mayTake;
  /// Read and not yet written, in order.
  std::deque<OpenWindow> windows;
  std::deque<Task> waiting;
  /// The sizes of `windows`.
  LineLimits unwritten = {0, 0};
  int64_t linesRead = 0;
  /// A window is read, or becomes batches: one at a time, so that nobody waits
  /// for input when there soon is something to do.
  bool opening = false;
  bool writing = false;
  bool inputEnded = false;
  bool stopped = false;
  Status failure = Status::success();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_BATCHPIPELINE_H
