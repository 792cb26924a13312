//===- Sampling.cpp - A token drawn from its distribution -----------------===//
//
// Weights are f64, so that no token of a large vocabulary is lost in their sum.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/Sampling.h"

#include "runtime/search/TokenScores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace heddle;

uint64_t heddle::sourceKey(const TokenIds &source) {
  return XXH64(source.data(), source.size() * sizeof(int32_t), /*seed=*/0);
}

double heddle::drawUniform(const DrawKey &key) {
  auto low = [](uint64_t word) { return static_cast<uint32_t>(word); };
  auto high = [](uint64_t word) { return static_cast<uint32_t>(word >> 32); };
  uint32_t keys[2] = {low(key.seed), high(key.seed)};
  uint32_t words[4] = {low(key.source), high(key.source), key.sample,
                       key.position};
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53) * words[0];
    uint64_t odd = uint64_t(0xCD9E8D57) * words[2];
    uint32_t mixed[4] = {high(odd) ^ words[1] ^ keys[0], low(odd),
                         high(even) ^ words[3] ^ keys[1], low(even)};
    std::copy(mixed, mixed + 4, words);
    keys[0] += 0x9E3779B9;
    keys[1] += 0xBB67AE85;
  }
  uint64_t bits = (uint64_t(words[1]) << 32 | words[0]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

/// The topK largest values, with those that equal the last of them, in their
/// order; their weights are relative to the largest one's.
void Sampler::keepLargest(const float *values, int64_t count) {
  float least = -std::numeric_limits<float>::infinity();
  if (generation.topK > 0 && generation.topK < count) {
    sorted.clear();
    std::copy_if(values, values + count, std::back_inserter(sorted),
                 [](float value) { return !std::isnan(value); });
    auto last = sorted.begin() +
                std::min<int64_t>(generation.topK, int64_t(sorted.size())) - 1;
    std::nth_element(sorted.begin(), last, sorted.end(), std::greater<float>());
    least = *last;
  }
  double most = largestOf(values, count);
  kept.clear();
  for (int64_t i = 0; i < count; ++i)
    if (values[i] >= least && std::isfinite(values[i]))
      kept.push_back({static_cast<int32_t>(i),
                      std::exp((values[i] - most) / generation.temperature)});
}

/// Those before which less than topP of all stands, by weight.
void Sampler::keepNucleus() {
  std::sort(kept.begin(), kept.end(), [](const Weighted &a, const Weighted &b) {
    return a.weight != b.weight ? a.weight > b.weight : a.index < b.index;
  });
  double total = 0, before = 0;
  for (const Weighted &each : kept)
    total += each.weight;
  size_t size = 0;
  for (; size < kept.size() && (size == 0 || before < generation.topP * total);
       ++size)
    before += kept[size].weight;
  kept.resize(size);
}

Sampler::Drawn Sampler::draw(const float *values, int64_t count,
                             const DrawKey &key) {
  const float *certain =
      std::find(values, values + count, std::numeric_limits<float>::infinity());
  if (certain != values + count)
    return {certain - values, 0};
  keepLargest(values, count);
  if (generation.topP < 1)
    keepNucleus();
  // The largest weight is 1.
  auto isUnlikely = [&](const Weighted &each) {
    return each.weight < generation.minP;
  };
  kept.erase(std::remove_if(kept.begin(), kept.end(), isUnlikely), kept.end());
  double total = 0;
  for (const Weighted &each : kept)
    total += each.weight;
  double left = drawUniform(key) * total;
  const Weighted *drawn = &kept.back(); // If rounding leaves something.
  for (const Weighted &each : kept) {
    if (left < each.weight) {
      drawn = &each;
      break;
    }
    left -= each.weight;
  }
  return {drawn->index, std::log(drawn->weight / total)};
}
