//===- Sampling.h - A token drawn from its distribution ---------*- C++ -*-===//
//
// Draws depend on nothing but what they are about: the seed, the sentence, the
// number of the sample and the position. So a text does not depend on the
// batch, its order, threads or workers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_SEARCH_SAMPLING_H
#define HEDDLE_RUNTIME_SEARCH_SAMPLING_H

#include "runtime/artifact/Manifest.h"
#include "runtime/search/Constraints.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <vector>

namespace heddle {

/// What a draw is about.
struct DrawKey {
  uint64_t seed;
  /// Of the sentence's source, see sourceKey.
  uint64_t source;
  uint32_t sample, position;
};

/// XXH64 of the ids, little-endian i32, with the seed 0.
uint64_t sourceKey(const TokenIds &source);

/// A number in [0, 1) with 53 bits: the first two words of Philox4x32-10
/// (Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3"), the
/// first one being the lower, of which the upper 53 bits count. Its key is the
/// seed, its counter source, sample and position; low words come first.
double drawUniform(const DrawKey &key);

/// Draws indices of scores, as the warpers and multinomial of transformers
/// define their distribution: softmax of score / temperature over the topK
/// largest, of those over the fewest that hold topP, of those over what has
/// minP of the largest one's probability. One thread at a time.
class Sampler {
public:
  /// Borrows the settings, whose temperature is above 0.
  explicit Sampler(const Generation &generation) : generation(generation) {}

  /// An index, and its log-probability among those that could be drawn.
  struct Drawn {
    int64_t index;
    double logProbability;
  };
  /// One of `count` values, of which one at least is above -inf.
  Drawn draw(const float *values, int64_t count, const DrawKey &key);

private:
  struct Weighted {
    int32_t index;
    double weight;
  };
  void keepLargest(const float *values, int64_t count);
  void keepNucleus();

  const Generation &generation;
  std::vector<Weighted> kept;
  std::vector<float> sorted;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_SEARCH_SAMPLING_H
