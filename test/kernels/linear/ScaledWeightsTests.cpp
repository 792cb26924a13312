//===- ScaledWeightsTests.cpp - floats by integers with scales ------------===//
//
// Linears of vectors of f32, or of bf16, and i8 weights with a scale for each
// 32 inputs of a column, and of f32 weights with the same values, on every ISA
// level, tiles among them, beside the formula in double. Logits in ranges have
// their tests with those of other types, deep linears, too.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/linear/IntegerFormulas.h"
#include "test/kernels/linear/LinearCases.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class ScaledWeightsTest : public LayerTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, ScaledWeightsTest,
                         testing::ValuesIn(everyCodeOfShortTypes()),
                         testing::PrintToStringParamName());

/// All sizes of tiles, whole and below.
static constexpr int64_t kRows = 75;

/// Depths around what is unrolled and what shares a scale; columns around
/// panels and wide tiles.
static const std::pair<int64_t, int64_t> kShapes[] = {
    {1, 1}, {3, 33}, {31, 8}, {37, 100}, {64, 160}, {130, 264}, {234, 72}};

/// "scaled_SHAPE" of the integers, "short_SHAPE" of them and vectors of bf16,
/// and "plain_SHAPE" of f32 weights with their values.
static std::string moduleOf(int64_t depth, int64_t columns) {
  return fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @i_SHAPE : tensor<SHAPExi8> block_integers of [@w_SHAPE]
transformer.parameter @s_SHAPE : tensor<BLOCKSxOUTxf32> block_scales of [@w_SHAPE]
transformer.parameter @f_SHAPE : tensor<SHAPExf32> as_block_i8 of [@w_SHAPE]
func.func @scaled_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]},
    %r: tensor<?xOUTxf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %i = transformer.weight @i_SHAPE : tensor<SHAPExi8>
  %s = transformer.weight @s_SHAPE : tensor<BLOCKSxOUTxf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %y = transformer.linear %x, %i scales(%s), %b activation(relu) residual(%r)
    : (tensor<?xINxf32>, tensor<SHAPExi8>, tensor<BLOCKSxOUTxf32>, tensor<OUTxf32>,
       tensor<?xOUTxf32>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
func.func @short_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]},
    %r: tensor<?xOUTxf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %q = transformer.round %x : (tensor<?xINxf32>) -> tensor<?xINxbf16>
  %i = transformer.weight @i_SHAPE : tensor<SHAPExi8>
  %s = transformer.weight @s_SHAPE : tensor<BLOCKSxOUTxf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %y = transformer.linear %q, %i scales(%s), %b activation(relu) residual(%r)
    : (tensor<?xINxbf16>, tensor<SHAPExi8>, tensor<BLOCKSxOUTxf32>,
       tensor<OUTxf32>, tensor<?xOUTxf32>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
func.func @plain_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]},
    %r: tensor<?xOUTxf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %f = transformer.weight @f_SHAPE : tensor<SHAPExf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %y = transformer.linear %x, %f, %b activation(relu) residual(%r)
    : (tensor<?xINxf32>, tensor<SHAPExf32>, tensor<OUTxf32>, tensor<?xOUTxf32>)
      -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
              {{"SHAPE", shapeOf(depth, columns)},
               {"BLOCKS", std::to_string((depth + 31) / 32)},
               {"IN", std::to_string(depth)},
               {"OUT", std::to_string(columns)}});
}

/// The values of integers and scales: those of the derivations' formulas.
static std::vector<float> quantized(std::vector<float> w, int64_t columns) {
  int64_t depth = int64_t(w.size()) / columns;
  for (int64_t first = 0; first < depth; first += 32)
    for (int64_t c = 0; c < columns; ++c) {
      int64_t end = std::min(depth, first + 32);
      float most = 0;
      for (int64_t k = first; k < end; ++k)
        most = std::max(most, std::abs(w[k * columns + c]));
      // Up to the next bf16.
      uint32_t bits = bitsOf(most / 127);
      float scale = floatOf((bits + 0xffff) & 0xffff0000);
      for (int64_t k = first; k < end; ++k) {
        float &value = w[k * columns + c];
        value = std::nearbyint(value / scale) * scale;
      }
    }
  return w;
}

/// residual + relu(x W + b).
static std::vector<double> formula(const std::vector<float> &x,
                                   const std::vector<float> &r,
                                   const std::vector<float> &w,
                                   const std::vector<float> &b) {
  std::vector<double> y = multiply(x, w, b);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = r[i] + (std::isnan(y[i]) ? y[i] : std::max(y[i], 0.0));
  return y;
}

TEST_P(ScaledWeightsTest, Linear) {
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
      Values values = {{"x", x}, {"r", r}};
      std::vector<float> w = quantized(weights["w_" + shape].values, columns),
                         b = weights["b_" + shape].values;
      std::vector<double> expected = formula(x, r, w, b);
      // 234 products below 1 with a rounding error of 2^-24 of the sum so far
      // each.
      for (const std::vector<float> &found :
           {runInBatches(code, "scaled_" + shape, kRows, values),
            runRows(code, "plain_" + shape, 0, kRows, values)})
        expectNear(found, expected, 1.4e-5);
      expectNear(runInBatches(code, "short_" + shape, kRows, values),
                 formula(rounded(x), r, w, b), 1.4e-5);
    }
  });
}
