//===- Generate.h - Target sentences for source sentences -------*- C++ -*-===//
//
// Greedy search, beam search and sampling, with the constraints of the model's
// settings or of the caller. A sentence's result depends on nothing but that
// sentence: not on the batch, its order or its padding.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_GENERATE_H
#define HEDDLE_RUNTIME_SEARCH_GENERATE_H

#include "runtime/Result.h"
#include "runtime/search/BeamSearch.h"
#include "runtime/search/SearchOptions.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// For each source its hypotheses, the best one first: one, which ends where
/// nothing may follow, or of a beam search those that have ended, if any. With
/// alternatives, one for each of the best first tokens, in their order.
/// `prefixes` are empty or one a source: target ids that every hypothesis
/// begins with, which no limit, sum or penalty counts. Errors are those of
/// settingsFor, Session::begin and Model::checkPrefix, and a model without the
/// entries or the start token that generation needs.
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

#endif // HEDDLE_RUNTIME_SEARCH_GENERATE_H
