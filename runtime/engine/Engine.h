//===- Engine.h - Requests that join and leave at any step ------*- C++ -*-===//
//
// A language model for many callers (continuous batching; Yu et al. 2022, Orca,
// OSDI). Each request has its own search, constraints, callbacks and end. A
// request takes a slot, which has its KV caches; its prompt is computed in
// pieces beside the steps of others, and its rows decode with theirs. What a
// request gives has the bits that it gives alone, whoever else is there.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ENGINE_ENGINE_H
#define HEDDLE_RUNTIME_ENGINE_ENGINE_H

#include "runtime/Result.h"
#include "runtime/engine/PromptSlots.h"
#include "runtime/search/BeamSearch.h"
#include "runtime/search/SearchOptions.h"
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
struct EngineLimits {
  /// Requests, and the rows of one: its beams.
  int64_t slots = 16;
  int64_t beams = 1;
  /// Tokens of a request, its prompt included; absent for as many as the model
  /// has positions. A slot has room for them, which costs what is used of it.
  std::optional<int64_t> positions = {};
  /// Bytes that the device may give: requests wait until there is room for all
  /// of their positions. Absent for as many as there are.
  std::optional<int64_t> memory = {};
};

/// A text that is continued.
struct EngineRequest {
  /// Not empty; and what the answer begins with, which is part of it.
  TokenIds prompt, beginning = {};
  /// How. onToken hears of sentence 0, the first sample.
  SearchOptions options = {};
  /// Takes the hypotheses, the best first or samples in order, or why there are
  /// none, on the thread that runs the engine. May submit and cancel.
  std::function<void(const Result<std::vector<Hypothesis>> &)> finished = {};
};

struct EngineStatistics {
  /// Requests that have been submitted and finished, in whatever way, and those
  /// that have a slot.
  int64_t submitted = 0, finished = 0, running = 0;
  /// Calls for generated tokens and for prompts, and the rows of both.
  int64_t steps = 0, stepRows = 0, prompts = 0, promptRows = 0;
  /// Tokens that were guessed, and those of them that were right.
  int64_t guesses = 0, rightGuesses = 0;
  /// Tokens of prompts that stood in a slot already.
  int64_t sharedTokens = 0;
};

/// Of a decoder alone whose code extends. Borrows the model. One thread runs
/// it; any thread submits, cancels and asks for statistics.
class Engine {
public:
  /// Plans and takes the memory for all requests. Fails on limits below 1, on
  /// models that are no language models, and if memory is short.
  static Result<std::unique_ptr<Engine>>
  open(const Model &model, const EngineLimits &limits,
       const SessionOptions &options = {});
  ~Engine();

  /// A request, which waits for a slot behind those before it; returns its
  /// number, which `numbered` has before anything is told of it. Fails, without
  /// a call of `finished`, if it can never run: it says how many tokens it may
  /// take and how many a slot has.
  Result<uint64_t>
  submit(EngineRequest request,
         const std::function<void(uint64_t number)> &numbered = {});
  /// Ends a request at the next step with the error "the request was
  /// cancelled"; nothing if it has finished.
  void cancel(uint64_t number);

  /// Computes the next pieces of prompts and the next token of each row;
  /// whether a request is left. Fails if the device does, which ends all
  /// requests.
  Result<bool> step();
  /// Steps until no request is left.
  Status run();

  EngineStatistics statistics() const;

private:
  struct Running;
  struct Samples;
  /// The rows of a request that go on: a part of `chosen`.
  struct Chosen {
    size_t begin, end;
    Running *request;
    size_t size() const { return end - begin; }
  };

  Engine(const Model &model, const EngineLimits &limits,
         const SessionOptions &options);
  Status begin();
  Result<std::unique_ptr<Running>> check(EngineRequest request) const;
  void admit();
  void end(Running &request, const Result<std::vector<Hypothesis>> &result);
  void endAll(const Status &status);
  void endCancelled();
  bool isCancelled(const Running &request);
  void feed();
  Status stepRows();
  bool guess();
  std::vector<PromptPiece> takePieces(int64_t room);
  Status beginDecoding(Running &request, int64_t position);
  Status extendPrompts(bool stepsRows);
  void chooseBehind(Running &request, int64_t row, float *logits);
  void settle(Running &request, int64_t row);
  void choose(Running &request, int64_t first, int64_t count);
  Status keep();

  const Model &model;
  EngineLimits limits;
  int64_t positions = 0;
  Session session;
  PromptSlots prompts{session};

  /// Of the thread that runs it: by slot, those with rows in their order, and
  /// those whose prompts are not in their caches yet, as they came.
  std::vector<std::unique_ptr<Running>> slots;
  std::vector<Running *> decoding;
  std::deque<Running *> prompting;
  std::vector<Continuation> chosen;
  std::vector<Chosen> next;

  /// Guards what follows.
  mutable std::mutex mutex;
  std::deque<std::unique_ptr<Running>> waiting;
  /// By number: whether somebody has cancelled it.
  std::unordered_map<uint64_t, bool> unfinished;
  uint64_t lastNumber = 0;
  EngineStatistics counts;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_ENGINE_H
