// Projected sequences against their formula; and rows that depend on nothing
// but their own sentence.

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Case {
  /// 0 for a matrix that all heads share.
  int64_t heads, rows, longest, width;

  std::string name() const {
    return "project_" + std::to_string(heads) + "_" + std::to_string(rows) +
           "_" + std::to_string(width);
  }
  int64_t matrices() const { return std::max<int64_t>(heads, 1); }
};

class ProjectionTest : public LayerTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE(ProjectionTest);

/// Tiles, blocks and pieces, and what none of them divides.
static const Case kCases[] = {
    {0, 4, 16, 8},    {0, 5, 300, 21},    {2, 3, 40, 64}, {3, 7, 140, 33},
    {0, 130, 64, 96}, {0, 256, 270, 128}, {0, 3, 20, 320}};

static const char *const kModule = R"(
func.func @NAME(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?xROWSxWIDTHxf32> {transformer.name = "y"}) {
  %e = transformer.weight @e_NAME : tensor<MATRIX>
  %y = transformer.project_sequence %x, %e lengths(%lengths)
    : (tensor<?x?xWIDTHxf32>, tensor<MATRIX>, tensor<?xi32>)
      -> tensor<?xROWSxWIDTHxf32>
  return %y : tensor<?xROWSxWIDTHxf32>
}
transformer.parameter @e_NAME : tensor<MATRIX>
)";

static std::vector<int64_t> shapeOf(const Case &each) {
  if (each.heads == 0)
    return {each.rows, each.longest};
  return {each.heads, each.rows, each.longest};
}

static std::vector<float> projectionOf(const Case &each) {
  return randomValues(each.matrices() * each.rows * each.longest, 7);
}

static std::vector<double> expectedOf(const Case &each,
                                      const std::vector<float> &x,
                                      const std::vector<int32_t> &lengths) {
  std::vector<float> e = projectionOf(each);
  std::vector<double> y;
  int64_t batch = lengths.size(), n = x.size() / (batch * each.width);
  int64_t part = each.width / each.matrices();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t p = 0; p < each.rows; ++p)
      for (int64_t d = 0; d < each.width; ++d) {
        double sum = 0;
        for (int64_t j = 0; j < lengths[b]; ++j)
          sum += double(e[(d / part * each.rows + p) * each.longest + j]) *
                 x[(b * n + j) * each.width + d];
        y.push_back(sum);
      }
  return y;
}

TEST_P(ProjectionTest, SumsOverValidPositions) {
  std::string module;
  Weights weights;
  for (const Case &each : kCases) {
    std::string matrix;
    for (int64_t size : shapeOf(each))
      matrix += std::to_string(size) + "x";
    module += fill(kModule, {{"NAME", each.name()},
                             {"ROWS", std::to_string(each.rows)},
                             {"WIDTH", std::to_string(each.width)},
                             {"MATRIX", matrix + "f32"}});
    weights["e_" + each.name()] = {shapeOf(each), projectionOf(each)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Case &each : kCases) {
      SCOPED_TRACE(each.name());
      auto run = [&](const std::vector<float> &x,
                     const std::vector<int32_t> &lengths) {
        int64_t batch = lengths.size();
        int64_t n = x.size() / (batch * each.width);
        EntryCall call =
            prepare(code, each.name(), {{Dim::Batch, batch}, {Dim::Source, n}});
        call.set("x", x);
        call.set("lengths", lengths);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      int64_t n = each.longest;
      std::vector<int32_t> lengths = {int32_t(n), int32_t(n / 3), 0};
      std::vector<float> x = randomValues(3 * n * each.width, 1);
      // What is behind a length is no number.
      for (int64_t b = 0; b < 3; ++b)
        std::fill(x.begin() + (b * n + lengths[b]) * each.width,
                  x.begin() + (b + 1) * n * each.width,
                  std::numeric_limits<float>::quiet_NaN());
      std::vector<float> together = run(x, lengths);
      // Sums of up to 300 products of numbers in [-1, 1].
      expectNear(together, expectedOf(each, x, lengths), 1e-5);
      for (int64_t b = 0; b < 2; ++b) {
        auto begin = x.begin() + b * n * each.width;
        std::vector<float> own(begin, begin + lengths[b] * each.width);
        auto row = together.begin() + b * each.rows * each.width;
        EXPECT_EQ(run(own, {lengths[b]}),
                  std::vector<float>(row, row + each.rows * each.width));
      }
    }
  });
}
