//===- Engine.h - Requests that join and leave at any step ------*- C++ -*-===//
//
// A model that generates, for many callers (continuous batching; Yu et al.
// 2022, Orca, OSDI). Each request has its own search, constraints, callbacks
// and end. A request takes a slot, which has its KV caches; its prompt is
// computed in pieces beside the steps of others, or its source is encoded, and
// its rows decode with theirs. The answer to a request has the bits that it has
// if the request runs alone.
//
// Requests that search in different ways may need different forms of the
// decoder (Demand.h): those of each form are a batch of their own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_ENGINE_ENGINE_H
#define HEDDLE_RUNTIME_ENGINE_ENGINE_H

#include "runtime/Result.h"
#include "runtime/engine/RequestEngine.h"
#include "runtime/search/BeamSearch.h"
#include "runtime/search/SearchOptions.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle {

/// What runs together at most. Lengths are absent for as many as the model has
/// positions; a slot has room for them, which costs what is used of it.
struct EngineLimits {
  /// Requests, and the rows of one: its beams.
  int64_t slots = 16;
  int64_t beams = 1;
  /// Tokens of a request, its prompt included; and of a translator's source.
  std::optional<int64_t> positions = {}, sources = {};
  /// Bytes that the device may give: requests wait until there is room for all
  /// of their positions. Absent for as many as there are.
  std::optional<int64_t> memory = {};
};

/// A text that is translated or continued.
struct EngineRequest {
  /// The source, or a prompt, not empty; and what the answer begins with, which
  /// is part of it.
  TokenIds source, beginning = {};
  /// How. onToken hears of sentence 0, the first sample.
  SearchOptions options = {};
  /// Takes the hypotheses, the best first or samples in order, or why there are
  /// none, on the thread that runs the engine. May submit and cancel.
  std::function<void(const Result<std::vector<Hypothesis>> &)> finished = {};
};

struct EngineCounts;
struct RequestSamples;
struct RunningRequest;
class RunningBatch;

/// Borrows the model. Any thread submits.
class Engine : public RequestEngine {
public:
  /// Plans and takes the memory for all requests; of other forms than the usual
  /// one that is taken with the first request that needs it, unless memory has
  /// a limit. Fails on limits below 1, on models that do not generate, or
  /// continue texts without code that extends them, and if memory is short.
  static Result<std::unique_ptr<Engine>>
  open(const Model &model, const EngineLimits &limits,
       const SessionOptions &options = {});
  ~Engine() override;

  /// A request, which waits for a slot behind those before it; returns its
  /// number, which `numbered` has before anything is told of it. Fails, without
  /// a call of `finished`, if it can never run: it says how many tokens it may
  /// take and how many a slot has; and if memory is short for its form.
  Result<uint64_t>
  submit(EngineRequest request,
         const std::function<void(uint64_t number)> &numbered = {});
  void cancel(uint64_t number) override;
  /// Computes the next pieces of prompts and the next token of each row.
  Result<bool> step() override;
  EngineStatistics statistics() const override;
  /// What it takes beside KV caches and sources, with a limit of memory.
  int64_t fixedBytes() const { return fixed; }

private:
  Engine(const Model &model, const EngineLimits &limits,
         const SessionOptions &options);
  Status setLengths();
  Status begin();
  std::vector<DecoderForm> forms() const;
  DecoderForm formOf(const RunningRequest &request) const;
  Result<RunningBatch *> batchOf(DecoderForm form);
  Result<std::unique_ptr<RunningRequest>> check(EngineRequest request);
  std::vector<RunningBatch *> begun() const;
  void admit(const std::vector<RunningBatch *> &all);
  void end(std::unique_ptr<RunningRequest> request,
           const Result<std::vector<Hypothesis>> &result);
  void endAll(const Status &status);
  void endCancelled(const std::vector<RunningBatch *> &all);

  const Model &model;
  EngineLimits limits;
  SessionOptions options;
  std::unique_ptr<EngineCounts> counts;
  /// Guards the begin of batches, and what those of a GPU have taken.
  std::mutex beginning;
  int64_t taken = 0, fixed = 0;

  /// Guards what follows, but not what the batches do.
  mutable std::mutex mutex;
  std::map<DecoderForm, std::unique_ptr<RunningBatch>> batches;
  std::deque<std::unique_ptr<RunningRequest>> waiting;
  /// By number.
  std::unordered_map<uint64_t, std::shared_ptr<RequestSamples>> unfinished;
  uint64_t lastNumber = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_ENGINE_H
