// Activations, add and copies of any width against their formulas.

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>

using namespace heddle::test;

namespace {
struct Activation {
  const char *kind;
  double (*formula)(double);
};
} // namespace

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static const Activation kActivations[] = {
    {"relu", [](double x) { return std::fmax(x, 0); }},
    {"gelu",
     [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_tanh",
     [](double x) {
       double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
       return x / 2 * (1 + std::tanh(inner));
     }},
    {"quick_gelu", [](double x) { return x * sigmoid(1.702 * x); }},
    {"silu", [](double x) { return x * sigmoid(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", sigmoid},
};

/// Around one vector of either level, and more.
static const int64_t kWidths[] = {1, 5, 8, 13, 16, 31, 64, 130};
static constexpr int64_t kRows = 23;

TEST_P(LayerTest, Activation) {
  std::string module;
  for (const Activation &activation : kActivations)
    for (int64_t width : kWidths)
      module +=
          fill(R"(
func.func @KIND_WIDTH(%x: tensor<?xWIDTHxf32> {transformer.name = "x",
                                               transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.activation KIND %x
    : (tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
)",
               {{"KIND", activation.kind}, {"WIDTH", std::to_string(width)}});
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Activation &activation : kActivations)
      for (int64_t width : kWidths) {
        std::vector<float> x = randomValues(kRows * width, 1, 8);
        x[0] = std::numeric_limits<float>::quiet_NaN();
        x[3 * width] = 1e4f;
        x[4 * width] = -1e4f;
        x[5 * width] = 0;
        std::vector<double> y(x.begin(), x.end());
        for (double &value : y)
          if (!std::isnan(value))
            value = activation.formula(value);
        std::string name =
            std::string(activation.kind) + "_" + std::to_string(width);
        // A few units in the last place; the formulas of gelu lose some more
        // where they cancel.
        expectNear(runInBatches(code, name, kRows, {{"x", x}}), y, 1e-6);
      }
  });
}

TEST_P(LayerTest, ActivationOfAnyShape) {
  std::string module = R"(
func.func @all(%x: tensor<?x?x?xf32> {
      transformer.name = "x",
      transformer.dims = ["batch", "target", "shortlist"]})
    -> (tensor<?x?x?xf32> {transformer.name = "y"}) {
  %y = transformer.activation relu %x : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
func.func @one(%x: tensor<?xf32> {transformer.name = "x",
                                  transformer.dims = ["rows"]})
    -> (tensor<?xf32> {transformer.name = "y"}) {
  %y = transformer.activation relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
)";
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : {1, 7, 16, 37}) {
      for (const char *entry : {"all", "one"}) {
        bool isAll = entry == std::string("all");
        EntryCall call = prepare(code, entry,
                                 {{heddle::Dim::Batch, 3},
                                  {heddle::Dim::Target, 5},
                                  {heddle::Dim::Shortlist, width},
                                  {heddle::Dim::Rows, width}});
        std::vector<float> x =
            randomValues(isAll ? 3 * 5 * width : width, width);
        call.set("x", x);
        call();
        EXPECT_TRUE(call.checkGuards().ok());
        for (float &value : x)
          value = std::max(value, 0.0f);
        EXPECT_EQ(call.get("y"), x) << entry << " of width " << width;
      }
    }
  });
}

TEST_P(LayerTest, AddAndMultiply) {
  const std::string ops[] = {"add", "multiply"};
  std::string module;
  for (const std::string &op : ops)
    for (int64_t width : kWidths)
      module += fill(R"(
func.func @OP_WIDTH(%a: tensor<?xWIDTHxf32> {transformer.name = "a",
                                              transformer.dims = ["rows"]},
                     %b: tensor<?xWIDTHxf32> {transformer.name = "b",
                                              transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.OP %a, %b
    : (tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
)",
                     {{"OP", op}, {"WIDTH", std::to_string(width)}});
  withCode(module, {}, [&](const EntryRunner &code) {
    for (int64_t width : kWidths) {
      std::vector<float> a = randomValues(kRows * width, 1),
                         b = randomValues(kRows * width, 2), sum = a,
                         product = a;
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] += b[i];
        product[i] *= b[i];
      }
      auto run = [&](const std::string &op) {
        return runInBatches(code, op + "_" + std::to_string(width), kRows,
                            {{"a", a}, {"b", b}});
      };
      EXPECT_EQ(run("add"), sum);
      EXPECT_EQ(run("multiply"), product);
    }
  });
}

/// What the caller passes and gets back is copied; attention that nothing
/// allows is filled.
TEST_P(LayerTest, CopyAndFill) {
  std::string module = R"(
func.func @copy(%x: tensor<?x37xf32> {transformer.name = "x",
                                      transformer.dims = ["rows"]})
    -> (tensor<?x37xf32> {transformer.name = "y"}) {
  return %x : tensor<?x37xf32>
}
func.func @fill(%x: tensor<?x3xf32> {transformer.name = "x",
                                     transformer.dims = ["rows"]})
    -> (tensor<?x37xf32> {transformer.name = "y"}) {
  %y = transformer.fill like %x {value = 2.5 : f32, width = 37 : i64}
    : (tensor<?x3xf32>) -> tensor<?x37xf32>
  return %y : tensor<?x37xf32>
}
)";
  withCode(module, {}, [&](const EntryRunner &code) {
    std::vector<float> x = randomValues(kRows * 37, 1);
    EXPECT_EQ(runInBatches(code, "copy", kRows, {{"x", x}}), x);
    EXPECT_EQ(runInBatches(code, "fill", kRows,
                           {{"x", std::vector<float>(kRows * 3)}}),
              std::vector<float>(kRows * 37, 2.5f));
  });
}
