// What a search needs of the ranges of logits against the logits of a linear,
// in every type and on every ISA level: maxima, values and ids exactly, sums
// against sums in double.

#include "runtime/artifact/ArtifactFormat.h"
#include "test/kernels/linear/RangedLogitsCases.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class BestLogitsTest : public LayerTest {};

/// A range of a row.
struct Range {
  float maximum;
  double sum;
  std::vector<float> values;
  std::vector<int32_t> ids;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, BestLogitsTest,
                         testing::ValuesIn(andHopper(everyCodeOfShortTypes())),
                         testing::PrintToStringParamName());

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

static const RangedModule kModule = {
    R"(, %maxima: tensor<?xRANGESxf32> {transformer.name = "maxima",
           transformer.dims = ["rows"], transformer.output},
       %sums: tensor<?xRANGESxf32> {transformer.name = "sums",
           transformer.dims = ["rows"], transformer.output},
       %values: tensor<?xRANGESx?xf32> {transformer.name = "values",
           transformer.dims = ["rows", "best"], transformer.output},
       %ids: tensor<?xRANGESx?xi32> {transformer.name = "best",
           transformer.dims = ["rows", "best"], transformer.output})",
    "tensor<?xRANGESxf32>, tensor<?xRANGESxf32>, tensor<?xRANGESx?xf32>, "
    "tensor<?xRANGESx?xi32>",
    "%m, %s1, %v, %i = transformer.best_logits",
    "into %maxima, %sums, %values, %ids",
    ", tensor<?xRANGESxf32>, tensor<?xRANGESxf32>, tensor<?xRANGESx?xf32>, "
    "tensor<?xRANGESx?xi32>",
    "tensor<?xRANGESxf32>, tensor<?xRANGESxf32>, tensor<?xRANGESx?xf32>, "
    "tensor<?xRANGESx?xi32>",
    "%m, %s1, %v, %i"};

/// What the op's description says of a range of logits.
static Range findBest(const std::vector<float> &logits, int64_t begin,
                      int64_t end, const std::vector<int32_t> &forbidden,
                      int64_t best) {
  Range range{-kInfinity, 0, {}, {}};
  auto listed = std::find_if(forbidden.begin(), forbidden.end(),
                             [](int32_t id) { return id < 0; });
  auto isForbidden = [&](int64_t n) {
    return std::find(forbidden.begin(), listed, n) != listed;
  };
  std::vector<int32_t> ids, counted;
  for (int64_t n = begin; n < end; ++n) {
    if (logits[n] > -kInfinity && !isForbidden(n))
      ids.push_back(int32_t(n));
    // Where all are -inf their sum is 0, not that of -inf - -inf.
    if (logits[n] != -kInfinity &&
        !(forbidden.back() == kSumsOfAllowed && isForbidden(n)))
      counted.push_back(int32_t(n));
  }
  for (int32_t n : counted)
    if (logits[n] > range.maximum)
      range.maximum = logits[n];
  for (int32_t n : counted)
    range.sum += std::exp(double(logits[n]) - range.maximum);
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  for (int64_t i = 0; i < best; ++i) {
    bool isThere = i < int64_t(ids.size());
    range.ids.push_back(isThere ? ids[i] : -1);
    range.values.push_back(isThere ? logits[ids[i]] : -kInfinity);
  }
  return range;
}

/// Runs a case and compares each row with what its logits say.
static void check(EntryCall &call, const RangedCase &sizes, int64_t rows,
                  int64_t width, int64_t best,
                  const std::vector<int32_t> &forbidden) {
  call.set("forbidden", forbidden);
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  std::vector<float> logits = call.get("logits"), maxima = call.get("maxima"),
                     sums = call.get("sums"), values = call.get("values");
  std::vector<int32_t> ids = call.get<int32_t>("best");
  int64_t ranges = sizes.ranges();
  for (int64_t row = 0; row < rows; ++row) {
    auto first = logits.begin() + row * sizes.vocabulary;
    auto list = forbidden.begin() + row * width;
    for (int64_t k = 0; k < ranges; ++k) {
      SCOPED_TRACE("row " + std::to_string(row) + " range " +
                   std::to_string(k));
      Range expected =
          findBest({first, first + sizes.vocabulary}, k * sizes.range,
                   std::min((k + 1) * sizes.range, sizes.vocabulary),
                   {list, list + width}, best);
      int64_t at = row * ranges + k;
      EXPECT_EQ(maxima[at], expected.maximum);
      if (std::isfinite(expected.sum))
        EXPECT_NEAR(sums[at], expected.sum, 1e-5 * expected.sum);
      else
        EXPECT_FALSE(std::isfinite(sums[at])) << sums[at];
      auto found = [&](const auto &all) {
        return std::vector(all.begin() + at * best,
                           all.begin() + (at + 1) * best);
      };
      EXPECT_EQ(found(values), expected.values);
      EXPECT_EQ(found(ids), expected.ids);
    }
  }
}

TEST_P(BestLogitsTest, AgreesWithLogits) {
  constexpr int64_t kWidth = 3;
  for (const char *type : productTypes()) {
    Weights weights;
    std::string module = fillAllRanged(kModule, type, weights);
    withCode(module, weights, [&](const EntryRunner &code) {
      for (const RangedCase &sizes : kRangedCases)
        // Below and above the rows of tiles, and of scratch memory. More than
        // some ranges have.
        for (auto [rows, best] : {std::pair<int64_t, int64_t>(1, 1),
                                  {3, 40},
                                  {16, 8},
                                  {21, 3},
                                  {50, 8},
                                  {97, 1}}) {
          if (takesSample() && !sizes.isSampled(rows))
            continue;
          SCOPED_TRACE(type + ("_" + sizes.name()) + " of " +
                       std::to_string(rows));
          EntryCall call = prepare(
              code, type + ("_" + sizes.name()),
              {{Dim::Rows, rows}, {Dim::Forbidden, kWidth}, {Dim::Best, best}});
          // Scores as far apart as a model's are.
          call.set("x", randomValues(rows * sizes.depth, 3, 3));
          std::vector<int32_t> forbidden(rows * kWidth, -1);
          check(call, sizes, rows, kWidth, best, forbidden);
          // Of each row what is no id and the best of the last range; a
          // negative one ends the list.
          std::vector<int32_t> ids = call.get<int32_t>("best");
          int64_t width = sizes.ranges() * best;
          for (int64_t row = 0; row < rows; ++row) {
            forbidden[row * kWidth] = int32_t(sizes.vocabulary + row);
            forbidden[row * kWidth + 1] = ids[(row + 1) * width - best];
            forbidden[row * kWidth + 2] = row % 2 == 0 ? -1 : ids[row * width];
          }
          check(call, sizes, rows, kWidth, best, forbidden);
          for (int64_t row = 0; row < rows; row += 2)
            forbidden[row * kWidth + 2] = kSumsOfAllowed;
          check(call, sizes, rows, kWidth, best, forbidden);
        }
    });
  }
}

TEST_P(BestLogitsTest, NumbersAtTheEnds) {
  // Ids 0 to 31 are no numbers, 32 to 63 are lowest, of 64 to 95 all but two
  // are lowest, 96 to 127 have an infinite one and many that are equal.
  const RangedCase sizes = {4, 130, 32};
  std::vector<float> bias(sizes.vocabulary, -kInfinity);
  std::fill(bias.begin(), bias.begin() + 32, kNaN);
  bias[70] = -1e30f;
  bias[77] = 5;
  std::fill(bias.begin() + 96, bias.begin() + 128, 1e30f);
  bias[120] = kInfinity;
  bias[129] = kNaN;
  bias[128] = 7;
  Weights weights;
  addWeights(sizes, weights, bias);
  for (const char *type : productTypes())
    withCode(
        fillRanged(kModule, sizes, type), weights,
        [&](const EntryRunner &code) {
          constexpr int64_t kRows = 5;
          // In a vector, and in more than one.
          for (int64_t best : {4, 20}) {
            EntryCall call = prepare(
                code, type + ("_" + sizes.name()),
                {{Dim::Rows, kRows}, {Dim::Forbidden, 1}, {Dim::Best, best}});
            call.set("x", randomValues(kRows * sizes.depth, 3));
            check(call, sizes, kRows, 1, best, std::vector<int32_t>(kRows, -1));
            std::vector<int32_t> ids = call.get<int32_t>("best");
            auto at = [&](int64_t range, int64_t place) {
              return ids[range * best + place];
            };
            EXPECT_EQ(
                (std::vector<int32_t>{at(0, 0), at(1, 0), at(2, 0), at(2, 1),
                                      at(2, 2), at(3, 0), at(3, 1), at(3, 2),
                                      at(4, 0)}),
                (std::vector<int32_t>{-1, -1, 77, 70, -1, 120, 96, 97, 128}));
            EXPECT_EQ(call.get("sums")[1], 0);
            for (int32_t id : {77, 120, 128})
              check(call, sizes, kRows, 1, best,
                    std::vector<int32_t>(kRows, id));
            // Without them sums are finite, one of nothing is 0.
            constexpr int64_t kWidth = 6;
            EntryCall marked = prepare(code, type + ("_" + sizes.name()),
                                       {{Dim::Rows, kRows},
                                        {Dim::Forbidden, kWidth},
                                        {Dim::Best, best}});
            marked.set("x", randomValues(kRows * sizes.depth, 3));
            std::vector<int32_t> forbidden;
            for (int64_t row = 0; row < kRows; ++row)
              for (int32_t id : {120, 77, 129, 70, -1, kSumsOfAllowed})
                forbidden.push_back(id);
            check(marked, sizes, kRows, kWidth, best, forbidden);
            EXPECT_EQ(marked.get("sums")[2], 0);
          }
        });
}

TEST_P(BestLogitsTest, EqualOnesAreInTheOrderOfTheirIds) {
  // Of one lane of a GPU's warp, too, and of two tiles.
  const RangedCase sizes = {4, 310, 320};
  std::vector<float> bias(sizes.vocabulary, -1);
  for (int64_t id : {5, 36, 37, 69, 300})
    bias[id] = 3;
  Weights weights;
  addWeights(sizes, weights, bias);
  withCode(fillRanged(kModule, sizes, "f32"), weights,
           [&](const EntryRunner &code) {
             EntryCall call =
                 prepare(code, "f32_" + sizes.name(),
                         {{Dim::Rows, 1}, {Dim::Forbidden, 1}, {Dim::Best, 7}});
             call.set("x", std::vector<float>(sizes.depth, 0));
             call.set("forbidden", std::vector<int32_t>{36});
             call();
             EXPECT_EQ(call.get<int32_t>("best"),
                       (std::vector<int32_t>{5, 37, 69, 300, 0, 1, 2}));
           });
}

TEST_P(BestLogitsTest, ForbidsMany) {
  const RangedCase &sizes = kRangedCases[2];
  constexpr int64_t kRows = 3, kWidth = 70, kBest = 5;
  Weights weights;
  addWeights(sizes, weights);
  withCode(
      fillRanged(kModule, sizes, "f32"), weights, [&](const EntryRunner &code) {
        EntryCall call = prepare(
            code, "f32_" + sizes.name(),
            {{Dim::Rows, kRows}, {Dim::Forbidden, kWidth}, {Dim::Best, kBest}});
        call.set("x", randomValues(kRows * sizes.depth, 3, 3));
        // Of all ranges, in no order. A list ends in the middle, another
        // one before anything is forbidden.
        std::vector<int32_t> forbidden;
        for (int64_t place = 0; place < kRows * kWidth; ++place)
          forbidden.push_back(int32_t(place * 607 % sizes.vocabulary));
        forbidden[kWidth + 40] = -1;
        forbidden[2 * kWidth] = -7;
        check(call, sizes, kRows, kWidth, kBest, forbidden);
        // What is best.
        std::vector<int32_t> ids = call.get<int32_t>("best");
        for (int64_t row = 0; row < kRows; ++row)
          for (int64_t n = 0; n < sizes.ranges() * kBest; ++n)
            forbidden[row * kWidth + 30 + n] =
                ids[row * sizes.ranges() * kBest + n];
        check(call, sizes, kRows, kWidth, kBest, forbidden);
        forbidden[kWidth - 1] = forbidden[2 * kWidth - 1] = kSumsOfAllowed;
        check(call, sizes, kRows, kWidth, kBest, forbidden);
      });
}

TEST_P(BestLogitsTest, ThreadsAndBatchesChangeNoBit) {
  const RangedCase &sizes = kRangedCases[2];
  constexpr int64_t kRows = 67, kBest = 5;
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  std::vector<float> x = randomValues(kRows * sizes.depth, 3);
  for (const char *type : productTypes()) {
    Weights weights;
    std::string module = fillAllRanged(kModule, type, weights);
    withCode(module, weights, [&](const EntryRunner &code) {
      auto prepareRows = [&](int64_t rows) {
        return prepare(
            code, type + ("_" + sizes.name()),
            {{Dim::Rows, rows}, {Dim::Forbidden, 1}, {Dim::Best, kBest}});
      };
      EntryCall call = prepareRows(kRows);
      call.set("x", x);
      call.set("forbidden", std::vector<int32_t>(kRows, 7));
      call();
      std::vector<float> sums = call.get("sums"), values = call.get("values");
      std::vector<int32_t> ids = call.get<int32_t>("best");
      call(pool->get());
      EXPECT_EQ(call.get("sums"), sums);
      EXPECT_EQ(call.get("values"), values);
      EXPECT_EQ(call.get<int32_t>("best"), ids);
      EntryCall one = prepareRows(1);
      one.set("forbidden", std::vector<int32_t>{7});
      for (int64_t row = 0; row < kRows; row += takesSample() ? 9 : 1) {
        auto first = x.begin() + row * sizes.depth;
        one.set("x", std::vector<float>(first, first + sizes.depth));
        one();
        auto rowOf = [&](const std::vector<float> &all, int64_t width) {
          return std::vector<float>(all.begin() + row * width,
                                    all.begin() + (row + 1) * width);
        };
        EXPECT_EQ(one.get("sums"), rowOf(sums, sizes.ranges()));
        EXPECT_EQ(one.get("values"), rowOf(values, sizes.ranges() * kBest));
      }
    });
  }
}
