//===- BeamedSearch.h - Beam searches of a batch ----------------*- C++ -*-===//
//
// One BeamSearch a sentence, over what may follow its rows; and a search that
// ends at the first free token of each sentence, whose best it keeps.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_BEAMEDSEARCH_H
#define HEDDLE_RUNTIME_SEARCH_BEAMEDSEARCH_H

#include "runtime/search/Search.h"

#include <cstdint>
#include <vector>

namespace heddle {

class BeamedSearch : public Search {
public:
  explicit BeamedSearch(const SearchBatch &batch);

  std::vector<Hypothesis> take(size_t sentence) override {
    return std::move(searches[sentence].hypotheses());
  }

protected:
  void chooseFree(int32_t sentence, int64_t first, int64_t count,
                  std::vector<Continuation> &next) override;

private:
  std::vector<BeamSearch> searches;
  int64_t width;
  /// What follows the rows of a sentence, `width` a row.
  std::vector<int32_t> ids;
  std::vector<float> logProbabilities;
  std::vector<BestContinuations> best;
};

/// The `most` best tokens at the first place of each sentence that no prefix
/// and no constraint fills.
class FirstTokens : public Search {
public:
  FirstTokens(const SearchBatch &batch, int64_t most)
      : Search(batch), most(most), ids(size_t(most)),
        logProbabilities(size_t(most)), found(batch.sources.size()) {}

  std::vector<Hypothesis> take(size_t) override { return {}; }
  /// The best first; none if nothing may come.
  const std::vector<GivenToken> &of(size_t sentence) const {
    return found[sentence];
  }

protected:
  void chooseFree(int32_t sentence, int64_t first, int64_t count,
                  std::vector<Continuation> &next) override;

private:
  int64_t most;
  std::vector<int32_t> ids;
  std::vector<float> logProbabilities;
  std::vector<std::vector<GivenToken>> found;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_BEAMEDSEARCH_H
