//===- DrawnBlocks.h - The generator of random masks ------------*- C++ -*-===//
//
// As Masks.td states it, written again from there: what tests and benchmarks
// hold beside the compiler's own.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_KERNELS_ATTENTION_DRAWNBLOCKS_H
#define HEDDLE_TEST_KERNELS_ATTENTION_DRAWNBLOCKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::test {

/// MurmurHash3's finaliser.
inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6b;
  x ^= x >> 13;
  x *= 0xc2b2ae35;
  return x ^ x >> 16;
}

/// The blocks, of `total`, that block `number` of queries of head h sees.
inline std::vector<int64_t> drawnBlocks(uint32_t seed, uint32_t h,
                                        uint32_t number, uint32_t total,
                                        uint32_t count) {
  std::vector<int64_t> blocks;
  uint32_t q = total / count, s = total % count;
  for (uint32_t t = 0; t < count; ++t) {
    uint64_t size = q + (t < s);
    uint32_t draw = mix(t + mix(number + mix(h + mix(seed))));
    if (size > 0)
      blocks.push_back(t * q + std::min(t, s) + (draw * size >> 32));
  }
  return blocks;
}

} // namespace heddle::test

#endif // HEDDLE_TEST_KERNELS_ATTENTION_DRAWNBLOCKS_H
