// Linears of any shape, plain and fused, against their formulas.

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle::test;

namespace {
/// What stands around x W + b.
struct Linear {
  int64_t depth, columns;
  bool hasBias = false;
  std::string activation = "";
  /// What is added or multiplied behind it: "residual", "gate" or nothing.
  std::string other = "";
  bool hasNorm = false;

  std::string name() const {
    return "linear" + std::to_string(depth) + "x" + std::to_string(columns) +
           (hasBias ? "_bias" : "") + (hasNorm ? "_norm" : "") + other +
           activation;
  }
};
constexpr double kEpsilon = 1e-5;
} // namespace

/// Depths around the unrolling, columns around vectors and panels of either
/// level, and each epilogue on whole and cut panels.
static std::vector<Linear> linears() {
  std::vector<Linear> result;
  for (int64_t depth : {1, 3, 8, 37, 64})
    for (int64_t columns : {1, 7, 16, 31, 32, 33, 100, 160})
      result.push_back({depth, columns, /*hasBias=*/columns % 2 == 0});
  for (int64_t columns : {40, 64}) {
    for (const char *activation : {"relu", "gelu", "silu"})
      result.push_back({16, columns, true, activation});
    result.push_back({16, columns, false, "", "residual"});
    result.push_back({16, columns, true, "tanh", "residual", true});
    result.push_back({16, columns, true, "silu", "gate"});
    result.push_back({16, columns, false, "", "gate", true});
  }
  return result;
}

static std::string tensor(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

static std::string moduleOf(const Linear &linear) {
  std::string x = tensor({-1, linear.depth}), y = tensor({-1, linear.columns});
  std::string w = tensor({linear.depth, linear.columns});
  std::string vector = tensor({linear.columns}), name = linear.name();
  std::string parameters =
      "transformer.parameter @w_" + name + " : " + w + "\n";
  std::string body = "  %w = transformer.weight @w_" + name + " : " + w + "\n";
  std::string operands = "%x, %w", types = x + ", " + w, epilogue;
  auto parameter = [&](const std::string &value) {
    parameters +=
        "transformer.parameter @" + value + "_" + name + " : " + vector + "\n";
    body += "  %" + value + " = transformer.weight @" + value + "_" + name +
            " : " + vector + "\n";
  };
  if (linear.hasBias) {
    parameter("b");
    operands += ", %b";
    types += ", " + vector;
  }
  if (!linear.activation.empty())
    epilogue += " activation(" + linear.activation + ")";
  if (!linear.other.empty()) {
    epilogue += " " + linear.other + "(%r)";
    types += ", " + y;
  }
  if (linear.hasNorm) {
    parameter("gamma");
    parameter("beta");
    epilogue += " norm(layer, %gamma, %beta, 1.0e-5)";
    types += ", " + vector + ", " + vector;
  }
  std::string other =
      linear.other.empty()
          ? ""
          : ", %r: " + y +
                " {transformer.name = \"r\", transformer.dims = [\"rows\"]}";
  return parameters + "func.func @" + name + "(%x: " + x +
         " {transformer.name = \"x\", transformer.dims = [\"rows\"]}" + other +
         ") -> (" + y + " {transformer.name = \"y\"}) {\n" + body +
         "  %y = transformer.linear " + operands + epilogue + " : (" + types +
         ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

static double activate(const std::string &kind, double x) {
  if (kind == "relu")
    return std::max(x, 0.0);
  if (kind == "gelu")
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  if (kind == "silu")
    return x / (1 + std::exp(-x));
  return kind == "tanh" ? std::tanh(x) : x;
}

/// Row-major y = activation(x W + b), W in plain rows.
static std::vector<double> multiply(const std::vector<double> &x,
                                    const std::vector<float> &w,
                                    const std::vector<float> *b, int64_t depth,
                                    const std::string &activation) {
  int64_t columns = w.size() / depth, rows = x.size() / depth;
  std::vector<double> y(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double sum = b ? (*b)[column] : 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += x[row * depth + k] * w[k * columns + column];
      y[row * columns + column] = activate(activation, sum);
    }
  return y;
}

static std::vector<double> formula(const Linear &linear,
                                   const std::vector<float> &x,
                                   const std::vector<float> &r,
                                   const Weights &weights) {
  auto values = [&](const std::string &parameter) {
    return weights.at(parameter + "_" + linear.name()).values;
  };
  std::vector<float> bias = linear.hasBias ? values("b") : std::vector<float>();
  std::vector<double> y = multiply({x.begin(), x.end()}, values("w"),
                                   linear.hasBias ? &bias : nullptr,
                                   linear.depth, linear.activation);
  if (!linear.other.empty())
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = linear.other == "gate" ? y[i] * r[i] : y[i] + r[i];
  if (!linear.hasNorm)
    return y;
  for (size_t row = 0; row < y.size(); row += linear.columns) {
    double mean = 0, variance = 0;
    for (int64_t d = 0; d < linear.columns; ++d)
      mean += y[row + d] / linear.columns;
    for (int64_t d = 0; d < linear.columns; ++d)
      variance += std::pow(y[row + d] - mean, 2) / linear.columns;
    for (int64_t d = 0; d < linear.columns; ++d)
      y[row + d] = (y[row + d] - mean) / std::sqrt(variance + kEpsilon) *
                       values("gamma")[d] +
                   values("beta")[d];
  }
  return y;
}

/// Rows around whole tiles of either level; batches go through all sizes of
/// tiles below them.
static constexpr int64_t kRows = 29;

static Weights weightsOf(const std::vector<Linear> &linears) {
  Weights weights;
  for (const Linear &linear : linears) {
    weights["w_" + linear.name()] = {
        {linear.depth, linear.columns},
        randomValues(linear.depth * linear.columns, 1)};
    int seed = 2;
    for (const char *vector : {"b_", "gamma_", "beta_"})
      if (vector[0] == 'b' && vector[1] == '_' ? linear.hasBias
                                               : linear.hasNorm)
        weights[vector + linear.name()] = {
            {linear.columns}, randomValues(linear.columns, seed++)};
  }
  return weights;
}

static std::string moduleOf(const std::vector<Linear> &linears) {
  std::string module;
  for (const Linear &linear : linears)
    module += moduleOf(linear);
  return module;
}

/// Compares `rows` rows, which `run` gives for values, with the formula.
static void
checkRows(const Linear &linear, int64_t rows, const Weights &weights,
          const std::function<std::vector<float>(const Values &)> &run) {
  SCOPED_TRACE(linear.name());
  std::vector<float> x = randomValues(rows * linear.depth, 5);
  std::vector<float> r = randomValues(rows * linear.columns, 6);
  Values values = {{"x", x}};
  if (!linear.other.empty())
    values["r"] = r;
  // 64 products below 1, a rounding error of 2^-24 of the sum so far each:
  // below 4e-6 for sums like these; a norm scales by less than 3.
  expectNear(run(values), formula(linear, x, r, weights), 1.2e-5);
}

TEST_P(LayerTest, Linear) {
  Weights weights = weightsOf(linears());
  withCode(moduleOf(linears()), weights, [&](const EntryRunner &code) {
    for (const Linear &linear : linears())
      checkRows(linear, kRows, weights, [&](const Values &values) {
        return runInBatches(code, linear.name(), kRows, values);
      });
  });
}

TEST_P(LayerTest, LinearOfManyRows) {
  // A GPU has other blocks for more than 64 rows, of 128 rows and columns.
  constexpr int64_t rows = 150;
  std::vector<Linear> linears = {{37, 100, true, "gelu", "residual"},
                                 {16, 260, false, "", "residual"},
                                 {64, 128, false, "silu", "gate"},
                                 {64, 131, true}};
  Weights weights = weightsOf(linears);
  withCode(moduleOf(linears), weights, [&](const EntryRunner &code) {
    for (const Linear &linear : linears)
      checkRows(linear, rows, weights, [&](const Values &values) {
        return runInBatches(code, linear.name(), rows, values);
      });
  });
}

TEST_P(LayerTest, SplitLinear) {
  // A part that is no whole number of panels ends in a cut one of its own.
  const char *module = R"(
transformer.parameter @w : tensor<24x105xf32>
transformer.parameter @b : tensor<105xf32>
func.func @split(%x: tensor<?x24xf32> {transformer.name = "x",
                                       transformer.dims = ["rows"]})
    -> (tensor<?x33xf32> {transformer.name = "first"},
        tensor<?x64xf32> {transformer.name = "second"},
        tensor<?x8xf32> {transformer.name = "third"}) {
  %w = transformer.weight @w : tensor<24x105xf32>
  %b = transformer.weight @b : tensor<105xf32>
  %0, %1, %2 = transformer.linear %x, %w, %b split [33, 64, 8]
    : (tensor<?x24xf32>, tensor<24x105xf32>, tensor<105xf32>)
      -> (tensor<?x33xf32>, tensor<?x64xf32>, tensor<?x8xf32>)
  return %0, %1, %2 : tensor<?x33xf32>, tensor<?x64xf32>, tensor<?x8xf32>
}
)";
  Weights weights = {{"w", {{24, 105}, randomValues(24 * 105, 1)}},
                     {"b", {{105}, randomValues(105, 2)}}};
  std::vector<float> x = randomValues(kRows * 24, 3);
  std::vector<double> expected = multiply(
      {x.begin(), x.end()}, weights["w"].values, &weights["b"].values, 24, "");
  withCode(module, weights, [&](const EntryRunner &code) {
    for (int64_t rows : {int64_t(1), int64_t(5), kRows}) {
      EntryCall call = prepare(code, "split", {{heddle::Dim::Rows, rows}});
      call.set("x", std::vector<float>(x.begin(), x.begin() + rows * 24));
      call();
      EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
      int64_t first = 0;
      for (auto [name, width] :
           {std::pair{"first", 33}, std::pair{"second", 64},
            std::pair{"third", 8}}) {
        std::vector<double> part;
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t d = 0; d < width; ++d)
            part.push_back(expected[row * 105 + first + d]);
        expectNear(call.get(name), part, 4e-6);
        first += width;
      }
    }
  });
}

TEST_P(LayerTest, Ffn) {
  struct Shape {
    int64_t width, hidden;
  };
  // The last takes more memory than a task has for a whole block of rows.
  const Shape shapes[] = {{8, 40}, {33, 64}, {64, 100}, {16, 4100}};
  std::string module;
  Weights weights;
  for (const Shape &shape : shapes) {
    std::string in = std::to_string(shape.width);
    std::string name = "ffn" + in;
    module += fill(R"(
transformer.parameter @w1_NAME : tensor<INxHIDDENxf32>
transformer.parameter @b1_NAME : tensor<HIDDENxf32>
transformer.parameter @w2_NAME : tensor<HIDDENxINxf32>
transformer.parameter @b2_NAME : tensor<INxf32>
func.func @NAME(%x: tensor<?xINxf32> {transformer.name = "x",
                                      transformer.dims = ["rows"]})
    -> (tensor<?xINxf32> {transformer.name = "y"}) {
  %w1 = transformer.weight @w1_NAME : tensor<INxHIDDENxf32>
  %b1 = transformer.weight @b1_NAME : tensor<HIDDENxf32>
  %w2 = transformer.weight @w2_NAME : tensor<HIDDENxINxf32>
  %b2 = transformer.weight @b2_NAME : tensor<INxf32>
  %y = transformer.ffn %x, %w1, %b1, %w2, %b2 activation(relu) residual(%x)
    : (tensor<?xINxf32>, tensor<INxHIDDENxf32>, tensor<HIDDENxf32>,
       tensor<HIDDENxINxf32>, tensor<INxf32>, tensor<?xINxf32>)
      -> tensor<?xINxf32>
  return %y : tensor<?xINxf32>
}
)",
                   {{"NAME", name},
                    {"INx", in + "x"},
                    {"HIDDEN", std::to_string(shape.hidden)}});
    int64_t size = shape.width * shape.hidden;
    weights["w1_" + name] = {{shape.width, shape.hidden},
                             randomValues(size, 1, 0.3f)};
    weights["b1_" + name] = {{shape.hidden}, randomValues(shape.hidden, 2)};
    weights["w2_" + name] = {{shape.hidden, shape.width},
                             randomValues(size, 3, 0.1f)};
    weights["b2_" + name] = {{shape.width}, randomValues(shape.width, 4)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Shape &shape : shapes) {
      std::string name = "ffn" + std::to_string(shape.width);
      SCOPED_TRACE(name);
      std::vector<float> x = randomValues(kRows * shape.width, 5);
      std::vector<double> exact(x.begin(), x.end());
      std::vector<double> y =
          multiply(multiply(exact, weights["w1_" + name].values,
                            &weights["b1_" + name].values, shape.width, "relu"),
                   weights["w2_" + name].values, &weights["b2_" + name].values,
                   shape.hidden, "");
      for (size_t i = 0; i < y.size(); ++i)
        y[i] += x[i];
      // Up to 4,100 products below 0.5 in a sum of about 10: 2^-24 of it each
      // time, and errors of random sign.
      expectNear(runInBatches(code, name, kRows, {{"x", x}}), y, 2e-5);
    }
  });
}
