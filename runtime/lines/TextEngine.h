//===- TextEngine.h - An encoder for requests as they come ------*- C++ -*-===//
//
// Texts of many callers through the tasks of an encoder. Those that wait run
// together, in the order in which they came, whatever their lengths: an answer
// has the bits that it has alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_LINES_TEXTENGINE_H
#define HEDDLE_RUNTIME_LINES_TEXTENGINE_H

#include "runtime/Result.h"
#include "runtime/engine/RequestEngine.h"
#include "runtime/lines/TextJob.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle {

/// What runs together at most.
struct TextEngineLimits {
  /// Texts, or windows of long ones, in one batch.
  int64_t slots = 16;
  /// Tokens of a text, or of a window. Absent for as many as the model takes.
  std::optional<int64_t> tokens = {};
  /// Bytes that a batch may take. Absent for as many as there are.
  std::optional<int64_t> memory = {};
};

/// A text, as its job has read it.
struct TextRequest {
  std::shared_ptr<const TextJob> job;
  Sentence sentence;
  /// Takes the answer, or why there is none, on the thread that runs the
  /// engine. May submit and cancel.
  std::function<void(Result<LineAnswer>)> finished = {};
};

/// Borrows the model, which the jobs of requests have, too. Any thread submits.
class TextEngine : public RequestEngine {
public:
  TextEngine(const Model &model, const TextEngineLimits &limits,
             const SessionOptions &options)
      : model(model), limits(limits), options(options), session(model, options),
        planner(model, options) {}

  /// A request, which waits for those before it; returns its number, which
  /// `numbered` has before anything is told of it. Fails, without a call of
  /// `finished`, if it can never run: without a token, with more than a slot
  /// has, or if a batch may not have the memory for it.
  Result<uint64_t>
  submit(TextRequest request,
         const std::function<void(uint64_t number)> &numbered = {});
  void cancel(uint64_t number) override;
  /// Runs the first texts that wait and have the same task.
  Result<bool> step() override;
  EngineStatistics statistics() const override;

private:
  /// A request whose answer is gathered, by windows.
  struct OpenRequest {
    uint64_t number;
    TextRequest request;
    std::vector<Answer> answers;
    size_t left;
    bool isCancelled = false;

    Sentence &window(size_t number) {
      return number == 0 ? request.sentence
                         : request.sentence.windows[number - 1];
    }
  };
  struct Window {
    std::shared_ptr<OpenRequest> of;
    size_t number;
  };

  Status check(OpenRequest &request);
  void endCancelled();
  std::vector<Window> takeBatch();
  Result<Batch> fit(std::vector<Window> &windows);
  void end(OpenRequest &request, Result<LineAnswer> answer);
  void endAll(const Status &status);

  const Model &model;
  const TextEngineLimits limits;
  const SessionOptions options;
  /// Of the thread that runs the engine.
  Session session;
  /// Says what batches take.
  std::mutex planning;
  Session planner;

  /// Guards what follows.
  mutable std::mutex mutex;
  std::deque<Window> waiting;
  /// By number.
  std::unordered_map<uint64_t, std::shared_ptr<OpenRequest>> unfinished;
  uint64_t lastNumber = 0;
  EngineStatistics counts;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_LINES_TEXTENGINE_H
