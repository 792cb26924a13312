//===- TokenScoresTests.cpp - Log-probabilities and the best of them ------===//
//
// Against f64 and a full sort.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/TokenScores.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace heddle;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static std::vector<float> drawLogits(size_t count, float width) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::normal_distribution<float> normal(0, width);
  std::vector<float> logits(count);
  for (float &logit : logits)
    logit = normal(random);
  return logits;
}

TEST(TokenScoresTest, the_sum_is_that_of_f64) {
  for (size_t count : {1u, 5u, 16u, 1000u, 1024u, 1025u, 32000u, 250000u})
    for (float width : {0.01f, 1.0f, 10.0f, 40.0f}) {
      std::vector<float> logits = drawLogits(count, width);
      double most = *std::max_element(logits.begin(), logits.end()), sum = 0;
      for (float logit : logits)
        sum += std::exp(logit - most);
      double expected = most + std::log(sum);
      // The rounding of the result beside what the header says.
      EXPECT_NEAR(logSumExp(logits.data(), int64_t(count)), expected,
                  1e-6 + std::abs(expected) * 6e-8)
          << count << " " << width;
    }
}

TEST(TokenScoresTest, what_may_not_come_has_no_part_in_the_sum) {
  std::vector<float> logits = {1, -kInfinity, 2, -kInfinity};
  EXPECT_NEAR(logSumExp(logits.data(), 4), std::log(std::exp(1) + std::exp(2)),
              1e-6);
  std::vector<float> nothing(20, -kInfinity);
  EXPECT_FALSE(std::isfinite(logSumExp(nothing.data(), 20)));
  logits[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(logSumExp(logits.data(), 4)));
}

TEST(TokenScoresTest, the_best_are_those_of_a_sort) {
  for (size_t count : {1u, 7u, 16u, 40u, 3000u})
    for (int64_t most : {1, 2, 8, 64}) {
      std::vector<float> logits = drawLogits(count, 2);
      // Ties, and what may not come.
      for (size_t i = 0; i < count; ++i)
        logits[i] = i % 5 == 3 ? -kInfinity : std::round(logits[i] * 4);
      std::vector<int32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      std::sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
      });
      while (!expected.empty() && logits[expected.back()] == -kInfinity)
        expected.pop_back();
      expected.resize(std::min(expected.size(), size_t(most)));
      std::vector<int32_t> found(static_cast<size_t>(most));
      found.resize(
          size_t(findBest(logits.data(), int64_t(count), most, found.data())));
      EXPECT_EQ(found, expected) << count << " " << most;
    }
}

TEST(TokenScoresTest, what_is_no_number_is_not_among_the_best) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> logits = {nan, 1, nan, 2};
  int32_t found[4];
  ASSERT_EQ(findBest(logits.data(), 4, 4, found), 2);
  EXPECT_EQ(found[0], 3);
  EXPECT_EQ(found[1], 1);
}
