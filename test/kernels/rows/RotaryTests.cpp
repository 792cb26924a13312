// Rotary positions against their formula: angles that are f32, sines and
// cosines of those.

#include "test/kernels/LayerTest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr int64_t kRows = 23;

struct Layer {
  int64_t heads, width, pairs;
  float scale;

  std::string name() const {
    return std::to_string(heads) + "x" + std::to_string(width) + "_" +
           std::to_string(pairs);
  }
  int64_t elements() const { return heads * width; }
};
} // namespace

/// Whole heads and parts of them, around the lanes of both levels and the
/// pieces of a GPU's threads.
static const Layer kLayers[] = {{1, 2, 1, 1},    {2, 8, 4, 1},   {3, 8, 3, 1},
                                {2, 64, 32, 1},  {3, 20, 5, 1},  {1, 48, 13, 1},
                                {4, 16, 4, 1.5}, {2, 40, 20, .5}};

static std::string moduleOf(const Layer &layer) {
  return fill(R"(
transformer.parameter @f_NAME : tensor<PAIRSxf32>
func.func @rows_NAME(%x: tensor<?xELEMENTSxf32> {transformer.name = "x",
                                                 transformer.dims = ["rows"]},
                     %at: tensor<?xi32> {transformer.name = "positions",
                                         transformer.dims = ["rows"]})
    -> (tensor<?xELEMENTSxf32> {transformer.name = "y"}) {
  %f = transformer.weight @f_NAME : tensor<PAIRSxf32>
  %y = transformer.positions.rotary %x, %f at %at
    {heads = HEADS : i64, scale = SCALE : f32}
    : (tensor<?xELEMENTSxf32>, tensor<PAIRSxf32>, tensor<?xi32>)
      -> tensor<?xELEMENTSxf32>
  return %y : tensor<?xELEMENTSxf32>
}
func.func @batch_NAME(%x: tensor<?x?xELEMENTSxf32> {
      transformer.name = "x", transformer.dims = ["batch", "target"]})
    -> (tensor<?x?xELEMENTSxf32> {transformer.name = "y"}) {
  %f = transformer.weight @f_NAME : tensor<PAIRSxf32>
  %y = transformer.positions.rotary %x, %f
    {heads = HEADS : i64, scale = SCALE : f32}
    : (tensor<?x?xELEMENTSxf32>, tensor<PAIRSxf32>) -> tensor<?x?xELEMENTSxf32>
  return %y : tensor<?x?xELEMENTSxf32>
}
)",
              {{"NAME", layer.name()},
               {"PAIRS", std::to_string(layer.pairs)},
               {"ELEMENTS", std::to_string(layer.elements())},
               {"HEADS", std::to_string(layer.heads)},
               {"SCALE", std::to_string(layer.scale)}});
}

/// From 1 down to 10^-4, as a base of 10^4 has them.
static std::vector<float> frequenciesOf(const Layer &layer) {
  std::vector<float> values;
  for (int64_t k = 0; k < layer.pairs; ++k)
    values.push_back(float(std::pow(1e4, -double(k) / double(layer.pairs))));
  return values;
}

/// A row at a position.
static std::vector<double> turn(const Layer &layer, const float *x,
                                int64_t position) {
  std::vector<double> y(x, x + layer.elements());
  std::vector<float> frequencies = frequenciesOf(layer);
  for (int64_t head = 0; head < layer.heads; ++head)
    for (int64_t k = 0; k < layer.pairs; ++k) {
      double angle = float(position) * frequencies[size_t(k)];
      double cosine = layer.scale * std::cos(angle),
             sine = layer.scale * std::sin(angle);
      int64_t low = head * layer.width + k, high = low + layer.pairs;
      y[size_t(low)] = x[low] * cosine - x[high] * sine;
      y[size_t(high)] = x[high] * cosine + x[low] * sine;
    }
  return y;
}

/// Two products of f32 and their sum, of numbers of at most 2.
static constexpr double kTolerance = 5e-7;

TEST_P(LayerTest, Rotary) {
  std::string module;
  Weights weights;
  for (const Layer &layer : kLayers) {
    module += moduleOf(layer);
    weights["f_" + layer.name()] = {{layer.pairs}, frequenciesOf(layer)};
  }
  std::vector<int32_t> positions;
  for (int64_t row = 0; row < kRows; ++row)
    positions.push_back(int32_t(row < 5 ? 1048575 - 7919 * row : 37 - row));
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Layer &layer : kLayers) {
      SCOPED_TRACE(layer.name());
      std::vector<float> x = randomValues(kRows * layer.elements(), 5);
      std::vector<double> expected;
      for (int64_t row = 0; row < kRows; ++row)
        for (double y : turn(layer, &x[size_t(row * layer.elements())],
                             positions[size_t(row)]))
          expected.push_back(y);
      expectNear(runInBatches(code, "rows_" + layer.name(), kRows, {{"x", x}},
                              {{"positions", positions}}),
                 expected, kTolerance);

      EntryCall call = prepare(code, "batch_" + layer.name(),
                               {{Dim::Batch, 2}, {Dim::Target, 9}});
      std::vector<float> some(x.begin(), x.begin() + 18 * layer.elements());
      call.set("x", some);
      call();
      EXPECT_TRUE(call.checkGuards().ok());
      expected.clear();
      for (int64_t row = 0; row < 18; ++row)
        for (double y :
             turn(layer, &x[size_t(row * layer.elements())], row % 9))
          expected.push_back(y);
      expectNear(call.get("y"), expected, kTolerance);
    }
  });
}
