//===- BeamedSearch.cpp - Beam searches of a batch ------------------------===//
//
// Sentences take turns with one set of arrays, which has room for the rows of
// one, `width` continuations each: a step allocates nothing for them.
// FirstTokens ends a sentence by giving it no row to go on with. It follows a
// forced token, which is no choice, to the next place, unless the limit ends
// the sentence there.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/BeamedSearch.h"

#include <utility>

using namespace heddle;

BeamedSearch::BeamedSearch(const SearchBatch &batch)
    : Search(batch), searches(batch.sources.size()),
      width(BeamSearch::width(settings)), ids(size_t(width * settings.beams)),
      logProbabilities(ids.size()), best(size_t(settings.beams)) {
  for (size_t i = 0; i < searches.size(); ++i)
    searches[i].begin(settings, batch.limits[i], batch.room,
                      batch.options.tokenScores);
}

void BeamedSearch::chooseFree(int32_t sentence, int64_t first, int64_t count,
                              std::vector<Continuation> &next) {
  for (int64_t row = 0; row < count; ++row)
    best[size_t(row)] =
        findContinuations(first + row, width, ids.data() + row * width,
                          logProbabilities.data() + row * width);
  size_t begin = next.size();
  searches[size_t(sentence)].advance(best, tokens, first - batch.firstRow,
                                     next);
  for (size_t i = begin; i < next.size(); ++i)
    next[i].row += int32_t(batch.firstRow);
}

void FirstTokens::chooseFree(int32_t sentence, int64_t first, int64_t,
                             std::vector<Continuation> &next) {
  TokensSoFar row = soFar(first);
  // A forced token leaves no choice; that at the limit is the last one.
  auto forced = constraints.forced(row);
  if (forced && !forced->isSuppressed && row.generated() + 1 < row.limit) {
    next.push_back({static_cast<int32_t>(first), forced->token});
    return;
  }
  BestContinuations best =
      findContinuations(first, most, ids.data(), logProbabilities.data());
  for (int64_t i = 0; i < best.count; ++i)
    found[size_t(sentence)].push_back(
        {row.count, best.ids[i], best.logProbabilities[i]});
}
