//===- LengthBatchesTests.cpp - Which sentences share a batch -------------===//

#include "tools/LengthBatches.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

/// Sentences of these lengths.
std::vector<TokenIds> sentences(const std::vector<size_t> &lengths) {
  std::vector<TokenIds> result;
  for (size_t length : lengths)
    result.emplace_back(length, int32_t(result.size()));
  return result;
}

/// The lines of each batch.
std::vector<std::vector<size_t>> divide(const std::vector<size_t> &lengths,
                                        const BatchLimits &limits) {
  std::vector<TokenIds> sources = sentences(lengths);
  std::vector<std::vector<size_t>> lines;
  for (const Batch &batch : divideByLength(sources, limits)) {
    EXPECT_EQ(batch.sources.size(), batch.lines.size());
    for (size_t i = 0; i < batch.lines.size(); ++i)
      EXPECT_EQ(batch.sources[i], sources[batch.lines[i]]);
    lines.push_back(batch.lines);
  }
  return lines;
}

using Lines = std::vector<std::vector<size_t>>;

} // namespace

TEST(LengthBatchesTest, neighbours_in_length_the_longest_first) {
  EXPECT_EQ(divide({2, 9, 3, 8, 2}, {2, 100}), (Lines{{1, 3}, {2, 0}, {4}}));
  EXPECT_EQ(divide({2, 9, 3, 8, 2}, {16, 100}), (Lines{{1, 3, 2, 0, 4}}));
  EXPECT_EQ(divide({}, {2, 100}), Lines());
}

TEST(LengthBatchesTest, padded_tokens_are_limited) {
  // 3 times 10, but not 4 times; then 4 times 7.
  EXPECT_EQ(divide({10, 9, 9, 7, 7, 7, 7, 1}, {16, 30}),
            (Lines{{0, 1, 2}, {3, 4, 5, 6}, {7}}));
  // What is longer than the limit runs alone.
  EXPECT_EQ(divide({50, 40, 5}, {16, 30}), (Lines{{0}, {1}, {2}}));
}

TEST(LengthBatchesTest, sentences_without_tokens_are_left_out) {
  EXPECT_EQ(divide({0, 3, 0}, {16, 30}), (Lines{{1}}));
  EXPECT_EQ(divide({0, 0}, {16, 30}), Lines());
}
