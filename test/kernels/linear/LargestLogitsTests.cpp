//===- LargestLogitsTests.cpp - The largest logits of ranges --------------===//
//
// Against the logits of a linear, bit for bit, in every type and on every ISA
// level.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/RangedLogitsCases.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class LargestLogitsTest : public LayerTest {
protected:
  /// In every type: a bias decides the logits, so that the ids of each row's
  /// ranges are `expected`. With an id forbidden, they agree with the logits.
  void expectIds(const RangedCase &sizes, const std::vector<float> &bias,
                 const std::vector<int32_t> &expected, int32_t forbidden);
};

/// The values and ids of a row of ranges.
struct Largest {
  std::vector<float> values;
  std::vector<int32_t> ids;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, LargestLogitsTest,
                         testing::ValuesIn(andHopper(everyCodeOfShortTypes())),
                         testing::PrintToStringParamName());

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

static const RangedModule kModule = {
    "",
    R"(tensor<?xRANGESxf32> {transformer.name = "values"},
       tensor<?xRANGESxi32> {transformer.name = "largest"})",
    "%v, %i = transformer.largest_logits",
    "",
    "",
    "tensor<?xRANGESxf32>, tensor<?xRANGESxi32>",
    "%v, %i"};

/// What the op's description says of a row of logits.
static Largest findLargest(std::vector<float> logits,
                           const std::vector<int32_t> &forbidden,
                           const RangedCase &sizes) {
  for (int32_t id : forbidden) {
    if (id < 0)
      break;
    if (id < sizes.vocabulary)
      logits[id] = -kInfinity;
  }
  Largest largest;
  for (int64_t begin = 0; begin < sizes.vocabulary; begin += sizes.range) {
    int64_t end = std::min(begin + sizes.range, sizes.vocabulary);
    float value = -kInfinity, none = -kInfinity;
    int32_t id = -1;
    for (int64_t n = begin; n < end; ++n) {
      if (std::isnan(logits[n]))
        none = logits[n];
      if (logits[n] > value) {
        value = logits[n];
        id = int32_t(n);
      }
    }
    largest.values.push_back(id < 0 ? none : value);
    largest.ids.push_back(id);
  }
  return largest;
}

/// Runs a case and compares each row with what its logits say.
static void check(EntryCall &call, const RangedCase &sizes, int64_t rows,
                  int64_t width, const std::vector<int32_t> &forbidden) {
  call.set("forbidden", forbidden);
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  std::vector<float> logits = call.get("logits"), values = call.get("values");
  std::vector<int32_t> ids = call.get<int32_t>("largest");
  int64_t ranges = sizes.ranges();
  for (int64_t row = 0; row < rows; ++row) {
    auto first = logits.begin() + row * sizes.vocabulary;
    auto list = forbidden.begin() + row * width;
    Largest expected = findLargest({first, first + sizes.vocabulary},
                                   {list, list + width}, sizes);
    for (int64_t k = 0; k < ranges; ++k) {
      SCOPED_TRACE("row " + std::to_string(row) + " range " +
                   std::to_string(k));
      EXPECT_EQ(ids[row * ranges + k], expected.ids[k]);
      float value = values[row * ranges + k];
      if (std::isnan(expected.values[k]))
        EXPECT_TRUE(std::isnan(value)) << value;
      else
        EXPECT_EQ(value, expected.values[k]);
    }
  }
}

TEST_P(LargestLogitsTest, AgreesWithLogits) {
  constexpr int64_t kWidth = 3;
  for (const char *type : productTypes()) {
    Weights weights;
    std::string module = fillAllRanged(kModule, type, weights);
    withCode(module, weights, [&](const EntryRunner &code) {
      for (const RangedCase &sizes : kRangedCases)
        // Below and above the rows of tiles, and of scratch memory.
        for (int64_t rows : {1, 3, 16, 21, 32, 50, 97}) {
          if (takesSample() && !sizes.isSampled(rows))
            continue;
          SCOPED_TRACE(type + ("_" + sizes.name()) + " of " +
                       std::to_string(rows));
          EntryCall call =
              prepare(code, type + ("_" + sizes.name()),
                      {{Dim::Rows, rows}, {Dim::Forbidden, kWidth}});
          call.set("x", randomValues(rows * sizes.depth, 3));
          std::vector<int32_t> forbidden(rows * kWidth, -1);
          check(call, sizes, rows, kWidth, forbidden);
          // Of each row what is no id and the best of the last range; a
          // negative one ends the list.
          std::vector<int32_t> ids = call.get<int32_t>("largest");
          for (int64_t row = 0; row < rows; ++row) {
            forbidden[row * kWidth] = int32_t(sizes.vocabulary + row);
            forbidden[row * kWidth + 1] = ids[(row + 1) * sizes.ranges() - 1];
            forbidden[row * kWidth + 2] = row % 2 == 0 ? -1 : ids[0];
          }
          check(call, sizes, rows, kWidth, forbidden);
          for (int64_t row = 0; row < rows; ++row)
            forbidden[row * kWidth] = -1;
          check(call, sizes, rows, kWidth, forbidden);
        }
    });
  }
}

void LargestLogitsTest::expectIds(const RangedCase &sizes,
                                  const std::vector<float> &bias,
                                  const std::vector<int32_t> &expected,
                                  int32_t forbidden) {
  constexpr int64_t kRows = 5;
  std::vector<int32_t> ids;
  for (int64_t row = 0; row < kRows; ++row)
    ids.insert(ids.end(), expected.begin(), expected.end());
  Weights weights;
  addWeights(sizes, weights, bias);
  for (const char *type : productTypes())
    withCode(
        fillRanged(kModule, sizes, type), weights,
        [&](const EntryRunner &code) {
          EntryCall call = prepare(code, type + ("_" + sizes.name()),
                                   {{Dim::Rows, kRows}, {Dim::Forbidden, 1}});
          call.set("x", randomValues(kRows * sizes.depth, 3));
          check(call, sizes, kRows, 1, std::vector<int32_t>(kRows, -1));
          EXPECT_EQ(call.get<int32_t>("largest"), ids);
          check(call, sizes, kRows, 1, std::vector<int32_t>(kRows, forbidden));
        });
}

TEST_P(LargestLogitsTest, WhatIsNoNumberIsNeverLargest) {
  // Ids 0 to 31 are no numbers in every row, 32 to 63 are lowest, of 64 to 95
  // all but one are one of these; the first of two that are equal is chosen.
  const RangedCase sizes = {4, 100, 32};
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> bias(sizes.vocabulary, -1);
  for (int64_t n = 0; n < 96; ++n)
    bias[n] = n < 32 || n % 2 == 1 ? kNaN : -kInfinity;
  std::fill(bias.begin() + 32, bias.begin() + 64, -kInfinity);
  bias[77] = 5;
  bias[97] = bias[99] = kInfinity;
  expectIds(sizes, bias, {-1, -1, 77, 97}, /*forbidden=*/77);
}

TEST_P(LargestLogitsTest, TheFirstIdMayBeTheLargest) {
  // Of a range that a task computes in two pieces: 0 is an id, and stays
  // largest while the second piece is looked at.
  const RangedCase sizes = {4, 1024, 1024};
  std::vector<float> bias(sizes.vocabulary, -1);
  bias[0] = 1000;
  bias[1023] = 500;
  expectIds(sizes, bias, {0}, /*forbidden=*/0);
}

TEST_P(LargestLogitsTest, ThreadsChangeNoBit) {
  const RangedCase &sizes = kRangedCases[1];
  constexpr int64_t kRows = 37;
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  for (const char *type : productTypes()) {
    Weights weights;
    std::string module = fillAllRanged(kModule, type, weights);
    withCode(module, weights, [&](const EntryRunner &code) {
      EntryCall call = prepare(code, type + ("_" + sizes.name()),
                               {{Dim::Rows, kRows}, {Dim::Forbidden, 1}});
      call.set("x", randomValues(kRows * sizes.depth, 3));
      call.set("forbidden", std::vector<int32_t>(kRows, 7));
      call();
      std::vector<float> values = call.get("values");
      std::vector<int32_t> ids = call.get<int32_t>("largest");
      call(pool->get());
      EXPECT_EQ(call.get("values"), values);
      EXPECT_EQ(call.get<int32_t>("largest"), ids);
    });
  }
}
