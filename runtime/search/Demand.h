//===- Demand.h - What a search asks of a session ---------------*- C++ -*-===//

#ifndef HEDDLE_RUNTIME_SEARCH_DEMAND_H
#define HEDDLE_RUNTIME_SEARCH_DEMAND_H

#include "runtime/Result.h"
#include "runtime/search/SearchOptions.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// What a search needs to know of a batch before a session begins it.
struct Demand {
  Generation settings;
  DecoderRequest request;
  /// As Batch has them.
  std::vector<int64_t> limits;
  int64_t room = 0;
  SourceFeatures features;
  /// What a prefix feeds before its last token; without a prefill that is fed
  /// step by step, and here is nothing.
  std::vector<TokenIds> prefill;
};

/// The most ids that a row may forbid if it does without logits: if they grow
/// with the tokens, those of a few pages.
inline constexpr int64_t kMostForbidden = 1024;

/// What each sentence begins with: a prefix or, if texts are prompts of
/// targets, its prompt and then a prefix.
std::vector<TokenIds> beginningsOf(const Model &model,
                                   const std::vector<TokenIds> &sources,
                                   const std::vector<TokenIds> &prefixes);

/// The demand of sentences that begin with `prefixes`, which may be none. Fails
/// as settingsFor and Model::checkPrefix, and if a model has no start token.
/// Other members of an ensemble have a part in it.
Result<Demand> demandOf(const Model &model,
                        const std::vector<TokenIds> &sources,
                        const std::vector<TokenIds> &prefixes,
                        const SearchOptions &options,
                        const Ensemble *ensemble = nullptr);

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_DEMAND_H
