//===- BestLogitsTests.cpp - Ranges of a row, put together ----------------===//
//
// What is made of ranges is what a whole row of logits gives.
//
//===----------------------------------------------------------------------===//

#include "runtime/search/BestLogits.h"

#include "runtime/search/TokenScores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace heddle;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

namespace {
/// The ranges of a row, as a decoder returns them.
struct Ranges {
  Ranges(const std::vector<float> &logits, int64_t range, int64_t count)
      : count(count) {
    for (size_t begin = 0; begin < logits.size(); begin += size_t(range)) {
      size_t end = std::min(begin + size_t(range), logits.size());
      float most = largestOf(logits.data() + begin, int64_t(end - begin));
      maxima.push_back(most);
      float sum = 0;
      for (size_t i = begin; i < end; ++i)
        sum += most == -kInfinity && !std::isnan(logits[i])
                   ? 0
                   : std::exp(logits[i] - most);
      sums.push_back(sum);
      std::vector<int32_t> best(size_t(count), -1);
      findBest(logits.data() + begin, int64_t(end - begin), count, best.data());
      for (int32_t index : best) {
        values.push_back(index < 0 ? -kInfinity
                                   : logits[begin + size_t(index)]);
        ids.push_back(index < 0 ? -1 : int32_t(begin) + index);
      }
    }
  }

  BestLogits view() const {
    int64_t ranges = int64_t(maxima.size());
    return {maxima.data(), sums.data(), values.data(), ids.data(),
            ranges,        ranges,      count};
  }

  int64_t count;
  std::vector<float> maxima, sums, values;
  std::vector<int32_t> ids;
};
} // namespace

/// The ids of the best, whose logits are checked.
static std::vector<int32_t> bestOf(const BestLogits &logits, int64_t most,
                                   const std::vector<float> &row) {
  std::vector<int32_t> ids(static_cast<size_t>(most));
  std::vector<float> values(static_cast<size_t>(most));
  ids.resize(size_t(findBest(logits, most, ids.data(), values.data())));
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(values[i], row[size_t(ids[i])]);
  return ids;
}

TEST(BestLogitsTest, agree_with_a_row) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 4);
  std::vector<float> row(1000);
  for (float &logit : row)
    logit = std::round(normal(random) * 8) / 8; // Many are equal.
  for (int64_t range : {1, 7, 64, 1000}) {
    for (int64_t count : {1, 4, 16}) {
      Ranges ranges(row, range, count);
      EXPECT_NEAR(logSumExp(ranges.view()), logSumExp(row.data(), 1000), 2e-6);
      std::vector<int32_t> expected(static_cast<size_t>(count));
      findBest(row.data(), 1000, count, expected.data());
      EXPECT_EQ(bestOf(ranges.view(), count, row), expected);
    }
  }
}

TEST(BestLogitsTest, fewer_than_asked_for) {
  std::vector<float> row(10, -kInfinity);
  row[3] = 1;
  row[8] = 2;
  Ranges ranges(row, 4, 4);
  EXPECT_EQ(bestOf(ranges.view(), 4, row), (std::vector<int32_t>{8, 3}));
  EXPECT_NEAR(logSumExp(ranges.view()), 2 + std::log1p(std::exp(-1.0)), 1e-6);
  row[3] = row[8] = -kInfinity;
  Ranges nothing(row, 4, 4);
  EXPECT_TRUE(bestOf(nothing.view(), 4, row).empty());
  EXPECT_FALSE(std::isfinite(logSumExp(nothing.view())));
}

TEST(BestLogitsTest, what_is_no_number) {
  std::vector<float> row(10, 1);
  row[5] = kNaN;
  Ranges ranges(row, 4, 2);
  EXPECT_EQ(bestOf(ranges.view(), 2, row), (std::vector<int32_t>{0, 1}));
  EXPECT_FALSE(std::isfinite(logSumExp(ranges.view())));
  row[5] = kInfinity;
  Ranges infinite(row, 4, 2);
  EXPECT_EQ(bestOf(infinite.view(), 2, row), (std::vector<int32_t>{5, 0}));
  EXPECT_FALSE(std::isfinite(logSumExp(infinite.view())));
  std::fill(row.begin(), row.begin() + 4, kNaN);
  row[5] = 1;
  Ranges none(row, 4, 2);
  EXPECT_FALSE(std::isfinite(logSumExp(none.view())));
}
