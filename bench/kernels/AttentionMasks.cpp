#include "bench/kernels/AttentionMasks.h"
#include "test/kernels/attention/DrawnBlocks.h"

#include <algorithm>
#include <cstdlib>
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

static int64_t keysOfPredicate(int64_t i, int64_t n) {
  int64_t count = 0;
  for (int64_t j = std::max<int64_t>(i - 256, 0); j < std::min(i + 257, n); ++j)
    count += (i + j) % 3 != 1;
  return count;
}

static std::vector<int32_t> segmentIds(int64_t n) {
  std::vector<int32_t> ids(n);
  for (int64_t j = 0; j < n; ++j)
    ids[j] = int32_t(j / 512);
  return ids;
}
static std::vector<int32_t> threeTokens(int64_t n) {
  return {0, int32_t(n / 3), int32_t(2 * n / 3)};
}
static int64_t keysNearOrTokens(int64_t i, int64_t n) {
  int64_t count = keysNear(i, n);
  for (int64_t token : threeTokens(n)) {
    if (i == token)
      return n;
    count += std::abs(i - token) > 256;
  }
  return count;
}

/// Lists of `count` numbers, drawn of `total`, for each of `rows`.
static std::vector<int32_t> offsetsOf(int64_t rows, int64_t count) {
  std::vector<int32_t> offsets(rows + 1);
  for (int64_t row = 0; row <= rows; ++row)
    offsets[row] = int32_t(row * count);
  return offsets;
}
static std::vector<int32_t> listedOf(int64_t rows, int64_t count) {
  std::vector<int32_t> listed;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t number :
         test::drawnBlocks(/*seed=*/1, /*h=*/0, row, rows, count))
      listed.push_back(int32_t(number));
  return listed;
}

/// Offsets and numbers of the lists of rows of `block` positions each.
template <int64_t block, int64_t count>
static std::vector<MaskArgument> lists() {
  return {{"offsets", "i32",
           [](int64_t n) { return Sizes{std::to_string(n / block + 1)}; },
           [](int64_t n) { return offsetsOf(n / block, count); }},
          {"listed", "i32",
           [](int64_t n) { return Sizes{std::to_string(n / block * count)}; },
           [](int64_t n) { return listedOf(n / block, count); }}};
}

static bool isInTable(int64_t i, int64_t j) {
  return (7 * i + 13 * j) % 4 != 0;
}

static std::vector<int32_t> tableOfPairs(int64_t n) {
  std::vector<int32_t> table;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      table.push_back(isInTable(i, j));
  return table;
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
      {"prefix",
       {{{"past", "causal"},
         {"first", "prefix [length = 1024]"},
         {"mask", "or %past, %first"}},
        [](int64_t i, int64_t) { return std::max<int64_t>(i + 1, 1024); }}},
      {"segments",
       {{{"mask", "segments %ids : ids(TYPE)"}},
        [](int64_t, int64_t) { return int64_t(512); },
        {{"ids", "i32", [](int64_t) { return Sizes{"batch", "source"}; },
          segmentIds}}}},
      {"tokens",
       {{{"near", "window [left = 256, right = 256]"},
         {"tokens", "global of %three : three(TYPE)"},
         {"mask", "or %near, %tokens"}},
        keysNearOrTokens,
        {{"three", "i32", [](int64_t) { return Sizes{"batch", "3"}; },
          threeTokens}}}},
      {"random",
       {{{"mask", "random_blocks [block = 64, count = 8, seed = 1] of %lengths "
                  ": tensor<?xi32>"}},
        [](int64_t, int64_t) { return int64_t(8 * 64); }}},
      {"blocks",
       {{{"mask", "blocks %offsets, %listed [block = 64] : offsets(TYPE), "
                  "listed(TYPE)"}},
        [](int64_t, int64_t) { return int64_t(8 * 64); },
        lists<64, 8>()}},
      {"listed",
       {{{"mask", "pairs %offsets, %listed : offsets(TYPE), listed(TYPE)"}},
        [](int64_t, int64_t) { return int64_t(64); },
        lists<1, 64>()}},
      {"where",
       {{{"mask", R"(where within [left = 256, right = 256] {
^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
  %c3 = arith.constant 3 : i32
  %c1 = arith.constant 1 : i32
  %sum = arith.addi %i, %j : i32
  %rest = arith.remui %sum, %c3 : i32
  %p = arith.cmpi ne, %rest, %c1 : i32
  transformer.yield %p : i1
})"}},
        keysOfPredicate}},
      {"table",
       {{{"mask", "dense %pairs : pairs(TYPE)"}},
        [](int64_t i, int64_t n) {
          int64_t count = 0;
          for (int64_t j = 0; j < n; ++j)
            count += isInTable(i, j);
          return count;
        },
        {{"pairs", "i8", [](int64_t) { return Sizes{"source", "source"}; },
          tableOfPairs}}}},
  };
  return all;
}

} // namespace heddle::bench
