// Embeddings and positions, alone and fused, against their formulas.

#include "test/kernels/LayerTest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
constexpr int64_t kVocabulary = 11, kRows = 23, kTable = 40;
constexpr double kScale = 4;

struct Layer {
  /// Of positions: "", "halves", "interleaved" or "learned".
  std::string positions;
  int64_t width;

  std::string name() const { return "e" + positions + std::to_string(width); }
  int64_t timescales() const { return std::max<int64_t>(width / 2 - 1, 1); }
};
} // namespace

static std::vector<Layer> layers() {
  std::vector<Layer> result;
  for (int64_t width : {2, 8, 18, 34, 136}) {
    for (const char *positions : {"", "halves", "interleaved", "learned"})
      result.push_back({positions, width});
  }
  return result;
}

/// Each layer twice: as one op and, where it has positions, as two; over rows
/// with a position each and over sentences.
static std::string moduleOf(const Layer &layer) {
  std::string text = R"(
transformer.parameter @t_NAME : tensor<11xWIDTHxf32>
transformer.parameter @p_NAME : tensor<40xWIDTHxf32>
func.func @rows_NAME(%ids: tensor<?xi32> {transformer.name = "ids",
                                          transformer.dims = ["rows"]},
                     %at: tensor<?xi32> {transformer.name = "positions",
                                         transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %t = transformer.weight @t_NAME : tensor<11xWIDTHxf32>
  %p = transformer.weight @p_NAME : tensor<40xWIDTHxf32>
  %y = transformer.embedding %ids, %t FUSED_ROWS
  return %y : tensor<?xWIDTHxf32>
}
func.func @two_NAME(%ids: tensor<?xi32> {transformer.name = "ids",
                                         transformer.dims = ["rows"]},
                    %at: tensor<?xi32> {transformer.name = "positions",
                                        transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %t = transformer.weight @t_NAME : tensor<11xWIDTHxf32>
  %p = transformer.weight @p_NAME : tensor<40xWIDTHxf32>
  %e = transformer.embedding %ids, %t {scale = 4.0 : f32}
    : (tensor<?xi32>, tensor<11xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  %y = SECOND
  return %y : tensor<?xWIDTHxf32>
}
func.func @batch_NAME(%ids: tensor<?x?xi32> {
      transformer.name = "ids", transformer.dims = ["batch", "target"]})
    -> (tensor<?x?xWIDTHxf32> {transformer.name = "y"}) {
  %t = transformer.weight @t_NAME : tensor<11xWIDTHxf32>
  %p = transformer.weight @p_NAME : tensor<40xWIDTHxf32>
  %y = transformer.embedding %ids, %t FUSED_BATCH
  return %y : tensor<?x?xWIDTHxf32>
}
)";
  bool isLearned = layer.positions == "learned";
  std::string positions, operands, second;
  if (isLearned) {
    positions = "positions(learned, %p, 2)";
    operands = ", tensor<40xWIDTHxf32>";
    second = "transformer.positions.learned %e, %p at %at {offset = 2 : i64} "
             ": (tensor<?xWIDTHxf32>, tensor<40xWIDTHxf32>, tensor<?xi32>) -> "
             "tensor<?xWIDTHxf32>";
  } else if (!layer.positions.empty()) {
    positions = "positions(sinusoidal, SCALES, LAYOUT)";
    second = "transformer.positions.sinusoidal %e at %at {timescales = SCALES "
             ": i64, layout = #transformer<position_layout LAYOUT>} : "
             "(tensor<?xWIDTHxf32>, tensor<?xi32>) -> tensor<?xWIDTHxf32>";
  } else {
    second = "transformer.activation relu %e : (tensor<?xWIDTHxf32>) -> "
             "tensor<?xWIDTHxf32>";
  }
  bool hasPositions = !positions.empty();
  std::string rows = positions + (hasPositions ? " at %at" : "") +
                     " {scale = 4.0 : f32} : (tensor<?xi32>, "
                     "tensor<11xWIDTHxf32>" +
                     operands + (hasPositions ? ", tensor<?xi32>" : "") +
                     ") -> tensor<?xWIDTHxf32>";
  std::string batch = positions +
                      " {scale = 4.0 : f32} : (tensor<?x?xi32>, "
                      "tensor<11xWIDTHxf32>" +
                      operands + ") -> tensor<?x?xWIDTHxf32>";
  return fill(text, {{"FUSED_ROWS", rows},
                     {"FUSED_BATCH", batch},
                     {"SECOND", second},
                     {"NAME", layer.name()},
                     {"LAYOUT", layer.positions},
                     {"SCALES", std::to_string(layer.timescales())},
                     {"WIDTH", std::to_string(layer.width)}});
}

/// Element d of an embedding at a position.
static double formula(const Layer &layer, const Weights &weights, int32_t id,
                      int64_t position, int64_t d) {
  double x = 0;
  if (id >= 0)
    x = kScale * weights.at("t_" + layer.name()).values[id * layer.width + d];
  if (layer.positions.empty())
    return x;
  if (layer.positions == "learned")
    return x + weights.at("p_" + layer.name())
                   .values[(position + 2) * layer.width + d];
  int64_t half = layer.width / 2;
  bool isHalves = layer.positions == "halves";
  int64_t k = isHalves ? d % half : d / 2;
  double angle = position / std::pow(10000.0, k / double(layer.timescales()));
  bool isSine = isHalves ? d < half : d % 2 == 0;
  return x + (isSine ? std::sin(angle) : std::cos(angle));
}

static Weights weightsOf(const std::vector<Layer> &layers) {
  Weights weights;
  for (const Layer &layer : layers) {
    weights["t_" + layer.name()] = {{kVocabulary, layer.width},
                                    randomValues(kVocabulary * layer.width, 1)};
    weights["p_" + layer.name()] = {{kTable, layer.width},
                                    randomValues(kTable * layer.width, 2)};
  }
  return weights;
}

/// Rounding errors of f32, and of the formula's power in f64, which positions
/// of 10^5 magnify.
static constexpr double kTolerance = 3e-7;

TEST_P(LayerTest, Embedding) {
  std::string module;
  for (const Layer &layer : layers())
    module += moduleOf(layer);
  Weights weights = weightsOf(layers());
  std::vector<int32_t> ids, positions, places;
  for (int64_t row = 0; row < kRows; ++row) {
    ids.push_back(row % (kVocabulary + 1) - 1);
    positions.push_back(row < 5 ? 99999 - 7919 * row : 37 - row);
    places.push_back(37 - row);
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Layer &layer : layers()) {
      SCOPED_TRACE(layer.name());
      bool isLearned = layer.positions == "learned";
      const std::vector<int32_t> &at = isLearned ? places : positions;
      std::vector<double> y;
      for (int64_t row = 0; row < kRows; ++row)
        for (int64_t d = 0; d < layer.width; ++d)
          y.push_back(formula(layer, weights, ids[row], at[row], d));
      Ids given = {{"ids", ids}};
      if (!layer.positions.empty())
        given["positions"] = at;
      expectNear(runInBatches(code, "rows_" + layer.name(), kRows, {}, given),
                 y, kTolerance);
      if (!layer.positions.empty())
        expectNear(runInBatches(code, "two_" + layer.name(), kRows, {}, given),
                   y, kTolerance);

      EntryCall call = prepare(code, "batch_" + layer.name(),
                               {{Dim::Batch, 2}, {Dim::Target, 9}});
      std::vector<int32_t> some(ids.begin(), ids.begin() + 18);
      call.set("ids", some);
      call();
      EXPECT_TRUE(call.checkGuards().ok());
      std::vector<double> expected;
      for (int64_t i = 0; i < 18; ++i)
        for (int64_t d = 0; d < layer.width; ++d)
          expected.push_back(formula(layer, weights, some[i], i % 9, d));
      expectNear(call.get("y"), expected, kTolerance);
    }
  });
}
