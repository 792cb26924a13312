#include "bench/kernels/AttentionMasks.h"
#include "test/kernels/DrawnBlocks.h"

#include <algorithm>
#include <set>

namespace heddle::bench {

/// Those at most 256 away.
static int64_t keysNear(int64_t i, int64_t n) {
  return std::min(i + 256, n - 1) - std::max<int64_t>(i - 256, 0) + 1;
}

static int64_t keysNearOrGlobal(int64_t i, int64_t n) {
  int64_t columns = std::clamp<int64_t>(i - 256, 0, 2);
  return i < 2 ? n : keysNear(i, n) + columns;
}

static int64_t keysOfEverySecond(int64_t i, int64_t n) {
  return std::min<int64_t>(i / 2, 256) +
         std::min<int64_t>((n - 1 - i) / 2, 256) + 1;
}

/// The blocks of BigBird, of which n has whole ones.
static int64_t keysOfBlocks(int64_t i, int64_t n) {
  int64_t block = i / 64, count = n / 64;
  if (block < 2)
    return n;
  auto drawn = test::drawnBlocks(/*seed=*/1, /*h=*/0, block, count, 3);
  std::set<int64_t> blocks(drawn.begin(), drawn.end());
  blocks.insert({0, 1, block - 1, block, std::min(block + 1, count - 1)});
  return 64 * blocks.size();
}

const std::map<std::string, AttentionMask> &attentionMasks() {
  static const std::map<std::string, AttentionMask> all = {
      {"full", {{{"mask", "full"}}, [](int64_t, int64_t n) { return n; }}},
      {"causal",
       {{{"mask", "causal"}}, [](int64_t i, int64_t) { return i + 1; }}},
      {"window",
       {{{"mask", "window [left = 255, right = 0]"}},
        [](int64_t i, int64_t) { return std::min<int64_t>(i + 1, 256); }}},
      {"near", {{{"mask", "window [left = 256, right = 256]"}}, keysNear}},
      {"global",
       {{{"near", "window [left = 256, right = 256]"},
         {"tokens", "global [count = 2]"},
         {"mask", "or %near, %tokens"}},
        keysNearOrGlobal}},
      {"bigbird",
       {{{"near", R"(where within [left = 127, right = 127] {
^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
  %c6 = arith.constant 6 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %I = arith.shrsi %i, %c6 : i32
  %J = arith.shrsi %j, %c6 : i32
  %d = arith.subi %I, %J : i32
  %e = arith.addi %d, %c1 : i32
  %p = arith.cmpi ult, %e, %c3 : i32
  transformer.yield %p : i1
})"},
         {"tokens", "global [count = 128]"},
         {"drawn", "random_blocks [block = 64, count = 3, seed = 1] of "
                   "%lengths : tensor<?xi32>"},
         {"fixed", "or %near, %tokens"},
         {"mask", "or %fixed, %drawn"}},
        keysOfBlocks}},
      {"dilated",
       {{{"mask", "window [left = 256, right = 256, dilation = 2]"}},
        keysOfEverySecond}},
      // Drawn from the keys before the query.
      {"drawn",
       {{{"mask", "random_tokens [count = 64, seed = 1]"}},
        [](int64_t i, int64_t) { return std::min<int64_t>(i, 64); }}},
  };
  return all;
}

} // namespace heddle::bench
