//===- RunningRequest.h - A request of an engine and its search -*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H
#define HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H

#include "runtime/engine/Engine.h"
#include "runtime/search/BeamedSearch.h"
#include "runtime/search/Demand.h"
#include "runtime/search/SingleSearch.h"

namespace heddle {

/// What several samples of one request have found, by their number.
struct Engine::Samples {
  size_t left;
  std::vector<Hypothesis> found;
  Status failure = Status::success();
};

/// A request, or one of its samples, and its search: what a batch of one
/// sentence is elsewhere.
struct Engine::Running {
  uint64_t number = 0;
  EngineRequest request;
  std::shared_ptr<Samples> samples;
  uint32_t sample = 0;
  /// Its prompt, and that with what the answer begins with.
  std::vector<TokenIds> prompts, beginnings;
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

  void begin(const Model &model, Session &session);
};

/// Of a request that somebody has cancelled.
inline Status cancellation() {
  return Status::error("the request was cancelled");
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_ENGINE_RUNNINGREQUEST_H
