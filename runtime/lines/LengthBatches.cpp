//===- LengthBatches.cpp - Batches of similar length ----------------------===//
//
// Sorted by length, a batch is as long as its first sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/lines/LengthBatches.h"

#include <algorithm>
#include <numeric>

using namespace heddle;

std::vector<Batch> heddle::divideByLength(Sentences sentences,
                                          const BatchLimits &limits) {
  std::vector<TokenIds> &sources = sentences.sources;
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  auto length = [&](size_t number) { return sources[number].size(); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return length(a) != length(b) ? length(a) > length(b) : a < b;
  });
  std::vector<Batch> batches;
  for (size_t number : order) {
    if (sources[number].empty())
      break;
    auto isFull = [&](const Batch &batch) {
      int64_t sentences = int64_t(batch.sources.size()) + 1;
      int64_t length = int64_t(batch.sources.front().size());
      return sentences > limits.sentences || sentences * length > limits.tokens;
    };
    if (batches.empty() || isFull(batches.back()))
      batches.emplace_back();
    batches.back().sources.push_back(std::move(sources[number]));
    batches.back().targets.push_back(std::move(sentences.targets[number]));
    SourceFeatures &all = sentences.features,
                   &features = batches.back().features;
    if (!all.types.empty())
      features.types.push_back(std::move(all.types[number]));
    if (!all.promptTokens.empty())
      features.promptTokens.push_back(all.promptTokens[number]);
    if (!all.places.empty())
      features.places.push_back(std::move(all.places[number]));
    if (!all.others.empty())
      features.others.push_back(std::move(all.others[number]));
    batches.back().lines.push_back(sentences.lineOf(number));
    batches.back().numbers.push_back(number);
  }
  return batches;
}

int64_t heddle::sentencesForAll(const Sentences &sentences, int64_t workers,
                                int64_t most) {
  int64_t count =
      std::count_if(sentences.sources.begin(), sentences.sources.end(),
                    [](const TokenIds &source) { return !source.empty(); });
  return std::clamp<int64_t>((count + workers - 1) / workers, 1, most);
}
