//===- WidenedTests.cpp - f32 by integers that are widened ----------------===//
//
// Linears of f32 vectors and i8 weights on every ISA level, beside the formula
// in double with the integers that the weights become. Logits in ranges have
// their tests with those of other types, deep linears, too.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/IntegerFormulas.h"
#include "test/kernels/linear/LinearCases.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class WidenedTest : public LayerTest {};
} // namespace

HEDDLE_FOR_EVERY_CODE(WidenedTest);

/// All sizes of tiles, whole and below.
static constexpr int64_t kRows = 75;

/// Depths around what is unrolled; columns around panels and wide tiles.
static const std::pair<int64_t, int64_t> kShapes[] = {
    {1, 1}, {3, 33}, {8, 8}, {37, 100}, {64, 160}, {130, 264}};

static std::string moduleOf(int64_t depth, int64_t columns) {
  return fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @i_SHAPE : tensor<SHAPExi8> column_integers of [@w_SHAPE]
transformer.parameter @s_SHAPE : tensor<OUTxf32> column_scales of [@w_SHAPE]
func.func @linear_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]},
    %r: tensor<?xOUTxf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %i = transformer.weight @i_SHAPE : tensor<SHAPExi8>
  %s = transformer.weight @s_SHAPE : tensor<OUTxf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %y = transformer.linear %x, %i scales(%s), %b activation(relu) residual(%r)
    : (tensor<?xINxf32>, tensor<SHAPExi8>, tensor<OUTxf32>, tensor<OUTxf32>,
       tensor<?xOUTxf32>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
              {{"SHAPE", shapeOf(depth, columns)},
               {"IN", std::to_string(depth)},
               {"OUT", std::to_string(columns)}});
}

/// residual + relu(x W + b), of W = q w.
static std::vector<double> formula(const std::vector<float> &x,
                                   const std::vector<float> &r,
                                   const Integers &w,
                                   const std::vector<float> &b) {
  size_t columns = b.size(), depth = w.values.size() / columns;
  std::vector<double> y;
  for (size_t row = 0; row < x.size() / depth; ++row)
    for (size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (size_t k = 0; k < depth; ++k)
        sum += double(x[row * depth + k]) * w.values[k * columns + c];
      double linear = sum * w.scales[c] + b[c];
      y.push_back(r[row * columns + c] +
                  (std::isnan(linear) ? linear : std::max(linear, 0.0)));
    }
  return y;
}

TEST_P(WidenedTest, Linear) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes) {
    module += moduleOf(depth, columns);
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes) {
      std::string shape = shapeOf(depth, columns);
      SCOPED_TRACE(shape);
      std::vector<float> x = randomValues(kRows * depth, 3),
                         r = randomValues(kRows * columns, 4);
      x[9 * depth] = std::numeric_limits<float>::quiet_NaN();
      Integers w = quantizeColumns(weights["w_" + shape].values, columns);
      // 130 products below 127 with a rounding error of 2^-24 of the sum so
      // far each, times scales of 1 / 127.
      expectNear(
          runInBatches(code, "linear_" + shape, kRows, {{"x", x}, {"r", r}}),
          formula(x, r, w, weights["b_" + shape].values), 1e-5);
    }
  });
}
