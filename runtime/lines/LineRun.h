//===- LineRun.h - A job over lines, by several workers ---------*- C++ -*-===//
//
// What all jobs over lines share: lines in batches of similar length through
// workers, answers in the order of the lines.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_LINERUN_H
#define HEDDLE_RUNTIME_LINES_LINERUN_H

#include "runtime/Result.h"
#include "runtime/lines/BatchPipeline.h"
#include "runtime/lines/LengthBatches.h"
#include "runtime/lines/Lines.h"
#include "runtime/lines/OnError.h"
#include "runtime/lines/Workers.h"
#include "runtime/session/Session.h"
#include "runtime/session/SessionMemory.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// Sentences that run together if nobody says how many.
inline constexpr int64_t kDefaultBatch = 16;

struct LineRunOptions {
  /// The most sentences that run together. Absent for kDefaultBatch, or fewer
  /// if otherwise workers would have nothing to do.
  std::optional<int64_t> batch;
  /// Whether a run goes on with fewer workers if the system refuses threads,
  /// or if memory is short.
  bool mayHaveFewerWorkers = false;
  /// Bytes that the process may have, beside mapped files. Batches become
  /// smaller to stay within them, and workers fewer, if they may; a line that
  /// needs more alone is a failure that says how much.
  std::optional<int64_t> maxMemory = {};
  /// How many lines there are at most, if somebody knows: no more workers
  /// run.
  std::optional<int64_t> mostLines = {};
  /// How many texts an answer has, each about as long as its line.
  int64_t textsOfAnswer = 1;
  /// What stands before the name of a setting in errors.
  std::string settingPrefix = {};
  OnError onError = OnError::Stop;
};

/// What a runner keeps to that has a share of the memory, and what answers a
/// sentence of a batch that it cannot: its session, with more than a share if
/// need be, while the runner has nothing.
struct RunnerLimit {
  SessionMemory &memory;
  std::function<Answers(const Batch &batch, size_t sentence)> answer;
};

/// What is done with lines. Any number of threads call it.
class LineJob {
public:
  virtual ~LineJob() = default;
  /// The ids of a line, which Model::checkSource accepts, or none. The failure
  /// names the line and is its own.
  virtual Result<Sentence> encode(int64_t number, const Line &line) = 0;
  /// What answer() takes for such a batch, of which the session may have some;
  /// ends the session's batch.
  virtual Result<int64_t> bytesFor(Session &session, const Batch &batch) = 0;
  /// An answer for each sentence. If a GPU fails that nobody asked for, the
  /// same is asked again of a session on the CPU, if that is possible still.
  virtual Result<std::vector<Answer>> answer(Session &session,
                                             const Batch &batch) = 0;
  virtual bool mayAnswerAgain() const { return true; }
  /// What answers batches of at most so many sentences in place of answer(), of
  /// one worker; null if nothing does.
  virtual std::unique_ptr<BatchPipeline::Runner>
  makeRunner(const Workers &, int64_t /*worker*/, int64_t /*sentences*/,
             const std::optional<RunnerLimit> &) {
    return nullptr;
  }
  /// Whether a line may be a pair of texts.
  virtual bool takesPairs() const { return false; }
};

/// Takes the answers of consecutive lines; that of a line without a token is
/// empty. Called by one thread at a time.
using AnswerWriter = std::function<Status(std::vector<LineAnswer> answers)>;

/// Answers all lines, whatever runs together. They are written in order, and
/// before more is waited for. What fails ends the run once the lines before it
/// are written; a line that fails only if OnError says so.
Status runLines(const Workers &workers, const LineRunOptions &options,
                LineSource &source, LineJob &job, const AnswerWriter &write);

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_LINERUN_H
