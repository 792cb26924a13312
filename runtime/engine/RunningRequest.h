//===- RunningRequest.h - A request of an engine and its search -*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H
#define HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H

#include "runtime/engine/Engine.h"
#include "runtime/search/BeamedSearch.h"
#include "runtime/search/Demand.h"
#include "runtime/search/SingleSearch.h"

#include <atomic>

namespace heddle {

/// What all samples of one request share.
struct RequestSamples {
  explicit RequestSamples(size_t count) : left(count), found(count) {}

  size_t left;
  /// By their number.
  std::vector<Hypothesis> found;
  Status failure = Status::success();
  /// By any thread.
  std::atomic<bool> isCancelled = false;
};

/// A request, or one of its samples, and its search: what a batch of one
/// sentence is elsewhere.
struct RunningRequest {
  uint64_t number = 0;
  EngineRequest request;
  std::shared_ptr<RequestSamples> samples;
  uint32_t sample = 0;
  /// Its source, and what its tokens begin with: a prompt is both.
  std::vector<TokenIds> sources, beginnings;
  /// What its caches get before it has a row.
  TokenIds inputs;
  Demand demand;
  std::optional<SearchBatch> batch;
  std::optional<SingleSearch> single;
  std::optional<BeamedSearch> beamed;
  Search *search = nullptr;
  int32_t slot = -1;
  int64_t rows = 0;
  /// What may follow its row, of which so many were chosen, and whether it goes
  /// on behind more of them; and how many are worth a guess.
  TokenIds guesses;
  int64_t right = 0, mostGuesses = 0;
  bool goesOn = false;

  bool isBeamed() const { return demand.settings.beams > 1; }
  bool isCancelled() const { return samples->isCancelled; }
  void begin(const Model &model, Session &session, DecoderForm form);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H
