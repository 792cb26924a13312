//===- Generate.h - Target sentences for source sentences -------*- C++ -*-===//
//
// Greedy search, beam search and sampling, with the constraints of the model's
// settings or of the caller. A sentence's result depends on nothing but that
// sentence: not on the batch, its order or its padding.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_GENERATE_H
#define HEDDLE_RUNTIME_GENERATE_H

#include "runtime/BeamSearch.h"
#include "runtime/Result.h"
#include "runtime/Session.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

/// What a caller says in place of the model's settings, see Generation.
struct SearchOptions {
  /// Generated tokens, eos included: from 1 to the largest int32_t.
  std::optional<int64_t> maxLength;
  /// No eos while fewer are generated; a limit that comes earlier ends the
  /// sentence nevertheless.
  std::optional<int64_t> minLength;
  std::optional<int64_t> beams;
  std::optional<double> lengthPenalty;
  std::optional<EarlyStopping> earlyStopping;
  std::optional<int64_t> noRepeatNgram;
  std::optional<double> repetitionPenalty;
  std::optional<std::vector<TokenIds>> badWords;
  std::optional<TokenIds> suppress;
  /// Draws tokens; settings of the model never do. With a temperature of 0 the
  /// search is greedy.
  bool samples = false;
  std::optional<double> temperature, topP, minP;
  std::optional<int64_t> topK;
  uint64_t seed = 0;
  /// Whether greedy hypotheses and samples have sums, too: of the model's own
  /// log-probabilities. Those of a beam search always have.
  bool wantsSums = false;
  /// Where the model has a shortlist.
  bool useShortlist = true;
};

/// The settings of a model with what the caller says. Fails on numbers that
/// mean nothing, and on beams that are to be sampled.
Result<Generation> settingsFor(const Manifest &manifest,
                               const SearchOptions &options);

/// For each source its hypotheses, the best one first, at least one; more only
/// of a beam search. `prefixes` are empty or one a source: target ids that
/// every hypothesis begins with, which no limit, sum or penalty counts. Errors
/// are those of settingsFor, Session::begin and Model::checkTarget, and a model
/// without the entries or the start token that generation needs.
Result<std::vector<std::vector<Hypothesis>>>
generate(const Model &model, Session &session,
         const std::vector<TokenIds> &sources,
         const std::vector<TokenIds> &prefixes, const SearchOptions &options);

/// The bytes that generate() takes for these arguments, of which the session
/// may have some already; ends the session's batch. Errors are the same, except
/// that memory is short.
Result<int64_t> bytesToGenerate(const Model &model, Session &session,
                                const std::vector<TokenIds> &sources,
                                const std::vector<TokenIds> &prefixes,
                                const SearchOptions &options);

} // namespace heddle

#endif // HEDDLE_RUNTIME_GENERATE_H
