//===- LengthBatchesTests.cpp - Which sentences share a batch -------------===//

#include "runtime/lines/LengthBatches.h"

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

constexpr int64_t kFirst = 1000;

/// The lines of each batch, by their place.
std::vector<std::vector<int64_t>> divide(const std::vector<size_t> &lengths,
                                         const BatchLimits &limits) {
  Sentences all{kFirst, sentences(lengths), sentences(lengths)};
  for (TokenIds &target : all.targets)
    target.push_back(7);
  all.features.types = all.targets;
  for (size_t length : lengths)
    all.features.promptTokens.push_back(int32_t(length / 2));
  std::vector<std::vector<int64_t>> places;
  for (const Batch &batch : divideByLength(all, limits)) {
    EXPECT_EQ(batch.sources.size(), batch.lines.size());
    EXPECT_EQ(batch.targets.size(), batch.lines.size());
    EXPECT_EQ(batch.features.types, batch.targets);
    EXPECT_EQ(batch.features.promptTokens.size(), batch.lines.size());
    places.emplace_back();
    for (size_t i = 0; i < batch.lines.size(); ++i) {
      places.back().push_back(batch.lines[i] - kFirst);
      EXPECT_EQ(batch.sources[i], all.sources[size_t(places.back().back())]);
      EXPECT_EQ(batch.targets[i], all.targets[size_t(places.back().back())]);
      EXPECT_EQ(size_t(batch.features.promptTokens[i]),
                batch.sources[i].size() / 2);
    }
  }
  return places;
}

using Lines = std::vector<std::vector<int64_t>>;

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

TEST(LengthBatchesTest, further_windows_know_their_lines) {
  Sentences all{kFirst, sentences({2, 3, 5, 4}), sentences({0, 0, 0, 0})};
  all.more = {kFirst + 1, kFirst};
  std::vector<Batch> batches = divideByLength(all, {3, 100});
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].lines,
            (std::vector<int64_t>{kFirst + 1, kFirst, kFirst + 1}));
  EXPECT_EQ(batches[0].numbers, (std::vector<size_t>{2, 3, 1}));
  EXPECT_EQ(batches[1].lines, std::vector<int64_t>{kFirst});
  EXPECT_EQ(batches[1].numbers, std::vector<size_t>{0});
}

TEST(LengthBatchesTest, few_sentences_are_work_for_all) {
  auto each = [](const std::vector<size_t> &lengths, int64_t workers) {
    Sentences all{0, sentences(lengths), {}};
    return sentencesForAll(all, workers, /*most=*/4);
  };
  EXPECT_EQ(each(std::vector<size_t>(8, 3), 2), 4);
  EXPECT_EQ(each(std::vector<size_t>(100, 3), 2), 4);
  EXPECT_EQ(each(std::vector<size_t>(7, 3), 2), 4);
  EXPECT_EQ(each(std::vector<size_t>(6, 3), 2), 3);
  EXPECT_EQ(each({3, 3, 3}, 2), 2);
  EXPECT_EQ(each({3, 0, 3, 0}, 2), 1);
  EXPECT_EQ(each({3, 3, 3}, 64), 1);
  EXPECT_EQ(each({0}, 2), 1);
  EXPECT_EQ(each({}, 2), 1);
}
