//===- NormTests.cpp - Layer and RMS norms --------------------------------===//
//
// Norms of any width against their formulas, with and without beta, and with a
// residual that is added first.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>

using namespace heddle::test;

namespace {
constexpr double kEpsilon = 1e-5;

struct Shape {
  std::string kind;
  int64_t width;
  bool hasBeta, hasResidual;

  std::string name() const {
    return kind + std::to_string(width) + (hasBeta ? "_beta" : "") +
           (hasResidual ? "_residual" : "");
  }
};
} // namespace

/// Around one and two vectors of either level, where a row no longer fits
/// registers, and far beyond.
static std::vector<Shape> shapes() {
  std::vector<Shape> result;
  for (int64_t width :
       {1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 100, 136, 255, 256, 257, 300, 1000})
    for (const char *kind : {"layer", "rms"})
      result.push_back({kind, width, width % 2 == 0, width % 3 == 1});
  return result;
}

static const char *const kModule = R"(
transformer.parameter @gamma_NAME : tensor<WIDTHxf32>
PARAMETER
func.func @NAME(%x: tensor<?xWIDTHxf32> {transformer.name = "x",
                                         transformer.dims = ["rows"]} ARGUMENT)
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %gamma = transformer.weight @gamma_NAME : tensor<WIDTHxf32>
  BETA
  %y = transformer.norm KIND %x, %gamma OPERAND RESIDUAL {epsilon = 1.0e-5 : f32}
    : (tensor<?xWIDTHxf32>, tensor<WIDTHxf32> TYPES) -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
)";

static std::string moduleOf(const Shape &shape) {
  std::string types = shape.hasBeta ? ", tensor<WIDTHxf32>" : "";
  if (shape.hasResidual)
    types += ", tensor<?xWIDTHxf32>";
  return fill(
      kModule,
      {{"PARAMETER",
        shape.hasBeta ? "transformer.parameter @beta_NAME : tensor<WIDTHxf32>"
                      : ""},
       {"BETA",
        shape.hasBeta
            ? "%beta = transformer.weight @beta_NAME : tensor<WIDTHxf32>"
            : ""},
       {"OPERAND", shape.hasBeta ? ", %beta" : ""},
       {"ARGUMENT", shape.hasResidual
                        ? R"(, %r: tensor<?xWIDTHxf32> {transformer.name = "r",
                               transformer.dims = ["rows"]})"
                        : ""},
       {"RESIDUAL", shape.hasResidual ? "residual(%r)" : ""},
       {"TYPES", types},
       {"NAME", shape.name()},
       {"KIND", shape.kind},
       {"WIDTH", std::to_string(shape.width)}});
}

static std::vector<double> formula(const Shape &shape,
                                   const std::vector<float> &x,
                                   const Weights &weights) {
  const std::vector<float> &gamma = weights.at("gamma_" + shape.name()).values;
  std::vector<double> y;
  for (size_t row = 0; row < x.size(); row += shape.width) {
    double mean = 0, variance = 0;
    if (shape.kind == "layer")
      for (int64_t d = 0; d < shape.width; ++d)
        mean += x[row + d] / double(shape.width);
    for (int64_t d = 0; d < shape.width; ++d)
      variance += std::pow(x[row + d] - mean, 2) / shape.width;
    for (int64_t d = 0; d < shape.width; ++d)
      y.push_back(
          (x[row + d] - mean) / std::sqrt(variance + kEpsilon) * gamma[d] +
          (shape.hasBeta ? weights.at("beta_" + shape.name()).values[d] : 0));
  }
  return y;
}

TEST_P(LayerTest, Norm) {
  std::string module;
  Weights weights;
  for (const Shape &shape : shapes()) {
    module += moduleOf(shape);
    weights["gamma_" + shape.name()] = {{shape.width},
                                        randomValues(shape.width, 1)};
    if (shape.hasBeta)
      weights["beta_" + shape.name()] = {{shape.width},
                                         randomValues(shape.width, 2)};
  }
  constexpr int64_t kRows = 23;
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Shape &shape : shapes()) {
      SCOPED_TRACE(shape.name());
      std::vector<float> x = randomValues(kRows * shape.width, 3);
      // A large mean, where a variance from sums of squares would cancel; large
      // and tiny values.
      for (int64_t d = 0; d < shape.width; ++d) {
        x[3 * shape.width + d] = 10 + x[3 * shape.width + d];
        x[5 * shape.width + d] *= 1e4f;
        x[6 * shape.width + d] *= 1e-4f;
        x[7 * shape.width + d] = 0;
      }
      x[9 * shape.width] = std::numeric_limits<float>::quiet_NaN();
      Values values = {{"x", x}};
      if (shape.hasResidual) {
        std::vector<float> r = randomValues(kRows * shape.width, 4);
        values["r"] = r;
        for (size_t i = 0; i < x.size(); ++i)
          x[i] += r[i];
      }
      std::vector<float> y = runInBatches(code, shape.name(), kRows, values);
      // A mean of 10, from a sum of 10,000 with a rounding error an addend, is
      // off by less than 2e-5; deviations are scaled by less than 2.
      expectNear(y, formula(shape, x, weights), 4e-5);
    }
  });
}
