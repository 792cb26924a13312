//===- SingleSearch.h - Greedy search and sampling --------------*- C++ -*-===//
//
// One row a sentence, which gets the likeliest token or one that is drawn,
// until an eos, the limit, or constraints that let nothing follow.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_SINGLESEARCH_H
#define HEDDLE_RUNTIME_SEARCH_SINGLESEARCH_H

#include "runtime/search/Sampling.h"
#include "runtime/search/Search.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle {

class SingleSearch : public Search {
public:
  explicit SingleSearch(const SearchBatch &batch);

  std::vector<Hypothesis> take(size_t sentence) override {
    return {std::move(hypotheses[sentence])};
  }

protected:
  void chooseFree(int32_t sentence, int64_t first, int64_t count,
                  std::vector<Continuation> &next) override;

private:
  struct Choice {
    int32_t token;
    float logProbability;
  };
  /// None if nothing may come, or nothing is a number.
  std::optional<Choice> chooseToken(int64_t row);
  std::optional<Choice> chooseFrom(int64_t row, NextTokenScores logits);
  std::optional<Choice> chooseFrom(const BestLogits &logits);
  DrawKey keyOf(int64_t row) const;
  std::optional<Sampler::Drawn> placeOf(int64_t row,
                                        const NextTokenScores &scores);

  const SearchOptions &options;
  std::vector<Hypothesis> hypotheses;
  Sampler sampler;
  /// Of each source, if tokens are drawn.
  std::vector<uint64_t> keys;
  /// Logits as they were, if constraints change them and sums are wanted.
  std::vector<float> unchanged;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_SINGLESEARCH_H
