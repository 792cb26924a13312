// Products of f16, which every level widens and GPUs multiply by mma.sync or
// wgmma. Whole numbers have exact sums, which all of them share bit for bit.
// What elements are is said by the compiler's own _Float16.

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class F16Test : public LayerTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, F16Test, testing::ValuesIn(andHopper(everyCode())),
                         testing::PrintToStringParamName());

static float floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

static float rounded(float x) { return static_cast<_Float16>(x); }

/// Whole numbers in [-most, most]: f16 as they are up to 2,048.
static std::vector<float> wholeNumbers(int64_t count, unsigned seed,
                                       float most) {
  std::vector<float> values = randomValues(count, seed, most);
  for (float &value : values)
    value = std::nearbyint(value);
  return values;
}

TEST_P(F16Test, RoundsToTheNearest) {
  const char *module = R"(
func.func @round(%x: tensor<?x37xf32> {transformer.name = "x",
                                       transformer.dims = ["rows"]})
    -> (tensor<?x37xf16> {transformer.name = "y"}) {
  %y = transformer.round %x to f16 : (tensor<?x37xf32>) -> tensor<?x37xf16>
  return %y : tensor<?x37xf16>
}
)";
  std::vector<float> x;
  // Around ties of even and odd numbers, of every exponent; of f16's denormals
  // they lie one bit higher for each exponent below the last normal one.
  for (uint32_t sign : {0u, 0x80000000u})
    for (uint32_t exponent = 0; exponent <= 255; ++exponent)
      for (uint32_t tie = 12; tie <= 22; ++tie)
        for (uint32_t fraction : {0u, 1u << tie, 3u << tie})
          for (uint32_t beside : {0u, 1u, 0x7fffffu})
            x.push_back(floatOf(sign | exponent << 23 |
                                ((fraction + beside) & 0x7fffff)));
  x.resize((x.size() + 36) / 37 * 37);
  int64_t rows = x.size() / 37;
  withCode(module, {}, [&](const EntryRunner &code) {
    EntryCall call = prepare(code, "round", {{Dim::Rows, rows}});
    call.set("x", x);
    call();
    std::vector<uint16_t> y = call.get<uint16_t>("y");
    for (size_t i = 0; i < x.size(); ++i) {
      _Float16 found, expected = x[i];
      std::memcpy(&found, &y[i], sizeof found);
      if (std::isnan(x[i])) {
        ASSERT_TRUE(std::isnan(float(found))) << x[i];
        continue;
      }
      ASSERT_EQ(std::memcmp(&found, &expected, sizeof found), 0)
          << std::hexfloat << x[i] << " became " << float(found);
    }
  });
}

/// y = round(x) W + b, named after the shape; rounded, too, after an
/// activation.
static std::string linearText(int64_t depth, int64_t columns) {
  std::string in = std::to_string(depth), out = std::to_string(columns);
  return fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @r_SHAPE : tensor<SHAPExf16> rounded_to_f16 of [@w_SHAPE]
func.func @linear_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"},
        tensor<?xOUTxf16> {transformer.name = "h"}) {
  %w = transformer.weight @r_SHAPE : tensor<SHAPExf16>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %r = transformer.round %x to f16 : (tensor<?xINxf32>) -> tensor<?xINxf16>
  %y = transformer.linear %r, %w, %b
    : (tensor<?xINxf16>, tensor<SHAPExf16>, tensor<OUTxf32>)
      -> tensor<?xOUTxf32>
  %h = transformer.linear %r, %w, %b activation(relu) round(f16)
    : (tensor<?xINxf16>, tensor<SHAPExf16>, tensor<OUTxf32>)
      -> tensor<?xOUTxf16>
  return %y, %h : tensor<?xOUTxf32>, tensor<?xOUTxf16>
}
)",
              {{"SHAPE", in + "x" + out}, {"IN", in}, {"OUT", out}});
}

/// x W + b in double, of operands as f16 has them.
static std::vector<double> multiply(const std::vector<float> &x,
                                    const std::vector<float> &w,
                                    const std::vector<float> &b) {
  int64_t columns = b.size(), depth = w.size() / columns;
  std::vector<double> y;
  for (size_t row = 0; row < x.size() / depth; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      double sum = b[c];
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            double(rounded(x[row * depth + k])) * rounded(w[k * columns + c]);
      y.push_back(sum);
    }
  return y;
}

TEST_P(F16Test, Linears) {
  // Depths around pairs and what is unrolled, columns around panels.
  const std::pair<int64_t, int64_t> shapes[] = {{3, 33}, {37, 100}, {520, 130}};
  constexpr int64_t rows = 75;
  std::string module;
  Weights weights;
  auto nameOf = [](int64_t depth, int64_t columns) {
    return std::to_string(depth) + "x" + std::to_string(columns);
  };
  for (auto [depth, columns] : shapes) {
    std::string shape = nameOf(depth, columns);
    module += linearText(depth, columns);
    weights["w_" + shape] = {{depth, columns},
                             randomValues(depth * columns, 1)};
    weights["b_" + shape] = {{columns}, randomValues(columns, 2)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : shapes) {
      std::string shape = nameOf(depth, columns);
      SCOPED_TRACE(shape);
      std::vector<float> x = randomValues(rows * depth, 3);
      // Neighbours of ordinary rows, one of them above what f16 has.
      x[5 * depth] = 65520;
      x[9 * depth] = std::numeric_limits<float>::quiet_NaN();
      std::vector<double> expected = multiply(x, weights["w_" + shape].values,
                                              weights["b_" + shape].values);
      // Products are exact; a sum of depth + 1 terms of at most 1 is at most
      // depth + 1 and rounds as often, each time by 2^-24 of itself.
      double tolerance = (depth + 1.0) * (depth + 1.0) * 0x1p-24;
      std::vector<float> y =
          runInBatches(code, "linear_" + shape, rows, {{"x", x}});
      expectNear(y, expected, tolerance);
      EntryCall call = prepare(code, "linear_" + shape, {{Dim::Rows, rows}});
      call.set("x", x);
      call();
      std::vector<uint16_t> h = call.get<uint16_t>("h");
      for (size_t i = 0; i < h.size(); ++i) {
        _Float16 found, relu = y[i] < 0 ? 0.0f : y[i];
        std::memcpy(&found, &h[i], sizeof found);
        ASSERT_TRUE(found == relu || (found != found && y[i] != y[i]))
            << "at " << i << ": " << float(found) << " of " << y[i];
      }
    }
  });
}

TEST_P(F16Test, ValuesThatAreNotFiniteReachThoseWhoSeeThem) {
  constexpr int64_t width = 32, length = 150;
  const char *module = R"(
func.func @attend(
    %q: tensor<?x?x32xf32> {transformer.name = "q",
                            transformer.dims = ["batch", "target"]},
    %k: tensor<?x?x32xf32> {transformer.name = "k",
                            transformer.dims = ["batch", "target"]},
    %v: tensor<?x?x32xf32> {transformer.name = "v",
                            transformer.dims = ["batch", "target"]})
    -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
  %mask = transformer.mask.causal
  %a = transformer.round %q to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %b = transformer.round %k to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %c = transformer.round %v to f16 : (tensor<?x?x32xf32>) -> tensor<?x?x32xf16>
  %y = transformer.attention %a, %b, %c mask(%mask) {heads = 1 : i64}
    : (tensor<?x?x32xf16>, tensor<?x?x32xf16>, tensor<?x?x32xf16>,
       !transformer.mask) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
)";
  std::vector<float> q = randomValues(length * width, 1),
                     k = randomValues(length * width, 2),
                     v = randomValues(length * width, 3);
  withCode(module, {}, [&](const EntryRunner &code) {
    auto run = [&] {
      EntryCall call =
          prepare(code, "attend", {{Dim::Batch, 1}, {Dim::Target, length}});
      call.set("q", q);
      call.set("k", k);
      call.set("v", v);
      call();
      EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
      return call.get("y");
    };
    std::vector<float> expected = run();
    const float infinity = std::numeric_limits<float>::infinity();
    struct Other {
      int64_t key, column;
      float value, seen;
    };
    // One of them is above what f16 has.
    for (const Other &other :
         {Other{5, 1, -infinity, -infinity}, Other{70, 30, 65520, infinity},
          Other{130, 2, NAN, NAN}}) {
      v[other.key * width + other.column] = other.value;
      for (int64_t i = other.key; i < length; ++i)
        expected[i * width + other.column] = other.seen;
    }
    std::vector<float> found = run();
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(found[i] == expected[i] ||
                  (std::isnan(found[i]) && std::isnan(expected[i])))
          << "at " << i << ": " << found[i] << " for " << expected[i];
  });
}

TEST_P(F16Test, CandidateLogits) {
  constexpr int64_t most = 11, batch = 3;
  std::string module = "transformer.parameter @b : tensor<40xf32>\n";
  Weights weights = {{"b", {{40}, wholeNumbers(40, 1, 200)}}};
  const int64_t widths[] = {1, 21, 64};
  for (int64_t width : widths) {
    std::string name = std::to_string(width);
    module += fill(R"(
transformer.parameter @t_WIDTH : tensor<40xWIDTHxf32>
transformer.parameter @r_WIDTH : tensor<40xWIDTHxf16>
  rounded_to_f16 of [@t_WIDTH]
func.func @table_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %ids: tensor<?x?xi32> {transformer.name = "candidates",
                           transformer.dims = ["batch", "shortlist"]},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x?xf32> {transformer.name = "y"}) {
  %t = transformer.weight @r_WIDTH : tensor<40xWIDTHxf16>
  %b = transformer.weight @b : tensor<40xf32>
  %q = transformer.round %x to f16
    : (tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxf16>
  %y = transformer.candidate_logits %q, %t, %b, %counts gather(%ids) of %of
    : (tensor<?xWIDTHxf16>, tensor<40xWIDTHxf16>, tensor<40xf32>,
       tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)",
                   {{"WIDTH", name}});
    weights["t_" + name] = {{40, width}, wholeNumbers(40 * width, 2, 200)};
  }
  std::vector<int32_t> counts = {0, 6, 11}, sentences = {2, 0, 1, 2, 2}, ids;
  for (int64_t i = 0; i < batch * most; ++i)
    ids.push_back(i * 7 % 40);
  withCode(module, weights, [&](const EntryRunner &code) {
    for (int64_t width : widths) {
      std::string name = std::to_string(width);
      std::vector<float> x = wholeNumbers(sentences.size() * width, 3, 200);
      const std::vector<float> &table = weights["t_" + name].values;
      std::vector<double> expected;
      for (size_t row = 0; row < sentences.size(); ++row)
        for (int64_t c = 0; c < most; ++c) {
          int32_t id = ids[sentences[row] * most + c];
          double sum = weights["b"].values[id];
          for (int64_t d = 0; d < width; ++d)
            sum += double(x[row * width + d]) * table[id * width + d];
          expected.push_back(c < counts[sentences[row]]
                                 ? sum
                                 : -std::numeric_limits<double>::infinity());
        }
      EntryCall call = prepare(code, "table_" + name,
                               {{Dim::Rows, int64_t(sentences.size())},
                                {Dim::Batch, batch},
                                {Dim::Shortlist, most}});
      call.set("x", x);
      call.set("candidates", ids);
      call.set("counts", counts);
      call.set("sentences", sentences);
      call();
      expectNear(call.get("y"), expected, /*tolerance=*/0);
    }
  });
}
