// Products of f32 under --tf32, which round operands to 11 bits, of two numbers
// as near to the one away from zero, and multiply them once. Products of two
// rounded numbers are exact in f32.

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace heddle;
using namespace heddle::test;

namespace {
class Tf32Test : public LayerTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    , Tf32Test,
    testing::Values(CodeChoice{std::string("x86-64-v3") + kEmulatedGpu,
                               /*reference=*/false, "--tf32"},
                    CodeChoice{std::string("x86-64-v3") + kEmulatedHopper,
                               /*reference=*/false, "--tf32"}),
    testing::PrintToStringParamName());

static float rounded(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~0x1fffu;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

static double dot(const float *lhs, const float *rhs, int64_t stride,
                  int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += double(rounded(lhs[i])) * rounded(rhs[i * stride]);
  return sum;
}

/// Logits of a vocabulary of several tiles, and the largest of each range.
static const char *const kLinear = R"(
transformer.parameter @w : tensor<300x700xf32>
transformer.parameter @b : tensor<700xf32>
func.func @linear(
    %x: tensor<?x300xf32> {transformer.name = "x",
                           transformer.dims = ["rows"]},
    %forbidden: tensor<?x?xi32> {transformer.name = "forbidden",
                                 transformer.dims = ["rows", "forbidden"]})
    -> (tensor<?x700xf32> {transformer.name = "y"},
        tensor<?x2xf32> {transformer.name = "values"},
        tensor<?x2xi32> {transformer.name = "largest"}) {
  %w = transformer.weight @w : tensor<300x700xf32>
  %b = transformer.weight @b : tensor<700xf32>
  %y = transformer.linear %x, %w, %b
    : (tensor<?x300xf32>, tensor<300x700xf32>, tensor<700xf32>)
      -> tensor<?x700xf32>
  %v, %i = transformer.largest_logits %x, %w, %b without %forbidden
      {range = 352 : i64, vocabulary = 700 : i64}
    : (tensor<?x300xf32>, tensor<300x700xf32>, tensor<700xf32>, tensor<?x?xi32>)
      -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return %y, %v, %i : tensor<?x700xf32>, tensor<?x2xf32>, tensor<?x2xi32>
}
)";

TEST_P(Tf32Test, LinearAndLogits) {
  constexpr int64_t depth = 300, columns = 700, rows = 75, range = 352;
  Weights weights = {
      {"w", {{depth, columns}, randomValues(depth * columns, 1)}},
      {"b", {{columns}, randomValues(columns, 2)}}};
  std::vector<float> x = randomValues(rows * depth, 3);
  // One to the right of a tie, and a tie.
  x[7] = 1 + 0x1p-11f + 0x1p-23f;
  x[8] = -1 - 0x1p-11f;
  std::vector<double> expected;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < columns; ++c)
      expected.push_back(weights["b"].values[c] + dot(&x[row * depth],
                                                      &weights["w"].values[c],
                                                      columns, depth));
  withCode(kLinear, weights, [&](const EntryRunner &code) {
    std::vector<float> y;
    for (int64_t count : {rows, int64_t(33), int64_t(1)}) {
      EntryCall call =
          prepare(code, "linear", {{Dim::Rows, count}, {Dim::Forbidden, 1}});
      call.set("x", std::vector<float>(x.begin(), x.begin() + count * depth));
      call.set("forbidden", std::vector<int32_t>(count, -1));
      call();
      ASSERT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
      std::vector<float> found = call.get("y"), largest = call.get("values");
      // A row's bits are the same in every shape of block, and those of logits.
      if (y.empty())
        y = found;
      EXPECT_TRUE(std::equal(found.begin(), found.end(), y.begin()));
      for (int64_t row = 0; row < count; ++row)
        for (int64_t k = 0; k < 2; ++k) {
          auto first = found.begin() + row * columns;
          EXPECT_EQ(largest[row * 2 + k],
                    *std::max_element(first + k * range,
                                      k ? first + columns : first + range));
        }
    }
    // A sum of depth + 1 terms of at most 1, which rounds as often.
    expectNear(y, expected, (depth + 1.0) * (depth + 1.0) * 0x1p-24);
  });
}

TEST_P(Tf32Test, Attention) {
  constexpr int64_t width = 48, queries = 70, keys = 133;
  std::string module = fill(R"(
func.func @attend(
    %q: ROWS {transformer.name = "q", transformer.dims = ["batch", "target"]},
    %k: ROWS {transformer.name = "k", transformer.dims = ["batch", "source"]},
    %v: ROWS {transformer.name = "v", transformer.dims = ["batch", "source"]})
    -> (ROWS {transformer.name = "y"}) {
  %y = transformer.attention %q, %k, %v {heads = 1 : i64, scale = 1.0 : f32}
    : (ROWS, ROWS, ROWS) -> ROWS
  return %y : ROWS
}
)",
                            {{"ROWS", "tensor<?x?x48xf32>"}});
  std::vector<float> q = randomValues(queries * width, 1),
                     k = randomValues(keys * width, 2),
                     v = randomValues(keys * width, 3);
  auto attend = [&](const EntryRunner &code, int64_t count) {
    EntryCall call = prepare(
        code, "attend",
        {{Dim::Batch, 1}, {Dim::Target, queries}, {Dim::Source, count}});
    call.set("q", q);
    call.set("k", std::vector<float>(k.begin(), k.begin() + count * width));
    call.set("v", std::vector<float>(v.begin(), v.begin() + count * width));
    call();
    EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
    return call.get("y");
  };
  withCode(module, {}, [&](const EntryRunner &code) {
    // A weight of 1: what comes out is the value as tf32 has it.
    std::vector<float> one = attend(code, 1);
    for (size_t i = 0; i < one.size(); ++i)
      ASSERT_EQ(one[i], rounded(v[i % width])) << "at " << i;
    // Weights round, too, by at most 2^-11 of themselves; what a sum of values
    // of at most 1 has of that, and of f32's own roundings.
    std::vector<double> expected;
    for (int64_t row = 0; row < queries; ++row) {
      std::vector<double> w(keys);
      double total = 0;
      for (int64_t key = 0; key < keys; ++key)
        total += w[key] =
            std::exp(dot(&q[row * width], &k[key * width], 1, width));
      for (int64_t c = 0; c < width; ++c) {
        double sum = 0;
        for (int64_t key = 0; key < keys; ++key)
          sum += w[key] / total * rounded(v[key * width + c]);
        expected.push_back(sum);
      }
    }
    expectNear(attend(code, keys), expected, 0x1p-11 + 0x1p-15);
  });
}
