//===- Bf16Tests.cpp - What bf16 alone is tested for ----------------------===//
//
// Products of bf16 on every ISA level, tiles among them. Whole numbers have
// exact sums, which all levels share bit for bit. The tests that bf16 shares
// with f16 are in ShortTypeTests.cpp.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/linear/ShortTypeTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

TEST_P(Bf16Test, SumsOfWholeNumbersAreExact) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : type.shapes) {
    module += linearText(type, depth, columns);
    weights.merge(wholeWeightsOf(depth, columns, 200, 200));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : type.shapes) {
      std::string shape = shapeOf(depth, columns);
      // 131 products of at most 200 * 200 stay below 2^24, and 520 of random
      // ones do, too.
      std::vector<float> x = wholeNumbers(kLinearRows * depth, 3, 200);
      expectNear(runInBatches(code, "linear_" + shape, kLinearRows, {{"x", x}}),
                 multiply(x, weights["w_" + shape].values,
                          weights["b_" + shape].values),
                 /*tolerance=*/0);
    }
  });
}

TEST_P(Bf16Test, LinearsRoundWhatTheyWrite) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : type.shapes) {
    module +=
        linearText(type, depth, columns, "activation(relu) residual(%r) round");
    weights.merge(wholeWeightsOf(depth, columns, 20, 200));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : type.shapes)
      for (int64_t rows : {1, 3, 8, 29, 48}) {
        std::string shape = shapeOf(depth, columns);
        std::vector<float> x = wholeNumbers(rows * depth, 3, 20);
        std::vector<float> residual = wholeNumbers(rows * columns, 4, 2000);
        std::vector<double> sums = multiply(x, weights["w_" + shape].values,
                                            weights["b_" + shape].values);
        std::vector<float> expected;
        for (size_t i = 0; i < sums.size(); ++i)
          expected.push_back(residual[i] + std::max(float(sums[i]), 0.0f));
        expectRounded(code, "linear_" + shape, rows,
                      {{"x", x}, {"r", residual}}, expected);
      }
  });
}

TEST_P(Bf16Test, GeluOfWhatIsRounded) {
  const char *module = R"(
transformer.parameter @w : tensor<1x2xf32>
transformer.parameter @r : tensor<1x2xbf16> rounded of [@w]
func.func @gelu(%x: tensor<?x1xf32> {transformer.name = "x",
                                     transformer.dims = ["rows"]})
    -> (tensor<?x2xbf16> {transformer.name = "y"}) {
  %w = transformer.weight @r : tensor<1x2xbf16>
  %r = transformer.round %x : (tensor<?x1xf32>) -> tensor<?x1xbf16>
  %y = transformer.linear %r, %w activation(gelu) round
    : (tensor<?x1xbf16>, tensor<1x2xbf16>) -> tensor<?x2xbf16>
  return %y : tensor<?x2xbf16>
}
)";
  // Steps of 1/32 are bf16 below 8; large ones leave 0 or themselves.
  std::vector<float> x = {1e4f, -1e4f, std::nanf("")};
  for (float value = -8; value <= 8; value += 0x1p-5f)
    x.push_back(value);
  withCode(module, {{"w", {{1, 2}, {1, 1}}}}, [&](const EntryRunner &code) {
    EntryCall call = prepare(code, "gelu", {{Dim::Rows, int64_t(x.size())}});
    call.set("x", x);
    call();
    std::vector<uint16_t> y = call.get<uint16_t>("y");
    EXPECT_TRUE(std::isnan(type.valueOf(y[2 * 2])));
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]))
        continue;
      double gelu = x[i] / 2.0 * (1 + std::erf(x[i] / std::sqrt(2.0)));
      // A rounding to bf16, and 2^-17 of |x| before it.
      double tolerance = std::abs(gelu) * 0x1p-8 + std::abs(x[i]) * 0x1p-17;
      for (int64_t column : {0, 1})
        EXPECT_NEAR(type.valueOf(y[2 * i + column]), gelu, tolerance) << x[i];
    }
  });
}

/// y = x W without a bias, of x that is bf16 already.
static const char *const kPlainLinears = R"(
transformer.parameter @v : tensor<160x40xf32>
transformer.parameter @w : tensor<34x40xf32>
transformer.parameter @rv : tensor<160x40xbf16> rounded of [@v]
transformer.parameter @rw : tensor<34x40xbf16> rounded of [@w]
func.func @deep(%x: tensor<?x160xbf16> {transformer.name = "x",
                                        transformer.dims = ["rows"]})
    -> (tensor<?x40xf32> {transformer.name = "y"}) {
  %w = transformer.weight @rv : tensor<160x40xbf16>
  %y = transformer.linear %x, %w
    : (tensor<?x160xbf16>, tensor<160x40xbf16>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
func.func @shallow(%x: tensor<?x34xbf16> {transformer.name = "x",
                                          transformer.dims = ["rows"]})
    -> (tensor<?x40xf32> {transformer.name = "y"}) {
  %w = transformer.weight @rw : tensor<34x40xbf16>
  %y = transformer.linear %x, %w
    : (tensor<?x34xbf16>, tensor<34x40xbf16>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
)";

/// Numbers of all sizes, denormals, infinities and none among them.
static std::vector<uint16_t> anyBf16(int64_t count, unsigned seed) {
  std::vector<uint16_t> values;
  for (float value : randomValues(count, seed))
    values.push_back(bitsOf(value) >> 16);
  for (int64_t i = 0; i < count; i += 3) // From 2^-127 on.
    values[i] = (values[i] & 0x807f) | uint16_t(i * 7 % 200) << 7;
  values[count / 2] = 0x7f80;
  values[count / 3] = 0x7fc0;
  return values;
}

TEST_P(Bf16Test, ReadsNothingBehindTheLastRow) {
  Weights weights = {{"v", {{160, 40}, randomValues(160 * 40, 1)}},
                     {"w", {{34, 40}, randomValues(34 * 40, 2)}}};
  withCode(kPlainLinears, weights, [&](const EntryRunner &code) {
    for (const char *entry : {"deep", "shallow"})
      for (int64_t rows = 1; rows <= 34; ++rows) {
        // Behind x memory ends, at the latest with its cache line.
        EntryCall call = prepare(code, entry, {{Dim::Rows, rows}});
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        EXPECT_EQ(call.get("y"), std::vector<float>(rows * 40));
      }
  });
}

TEST(Bf16Tiles, LoopsHaveTheBitsOfTheMachine) {
  if (!machineHas("amx"))
    GTEST_SKIP() << "this machine does not run amx";
  Weights weights = {{"v", {{160, 40}, randomValues(160 * 40, 1)}},
                     {"w", {{34, 40}, randomValues(34 * 40, 2, 1e-20f)}}};
  constexpr int64_t rows = 75;
  for (const char *entry : {"deep", "shallow"}) {
    std::vector<float> results[2];
    for (auto [target, result] :
         {std::pair{"amx", &results[0]}, {"avx512-bf16+tiles", &results[1]}}) {
      Result<EntryRunner> code = EntryRunner::compile(
          kPlainLinears, weights, {target, /*reference=*/false, ""});
      ASSERT_TRUE(code.ok()) << code.message();
      Result<EntryCall> call = code->prepare(entry, {{Dim::Rows, rows}});
      ASSERT_TRUE(call.ok()) << call.message();
      call->set("x", anyBf16(call->size("x"), 3));
      (*call)();
      *result = call->get("y");
    }
    for (size_t i = 0; i < results[0].size(); ++i)
      ASSERT_TRUE(bitsOf(results[0][i]) == bitsOf(results[1][i]) ||
                  (std::isnan(results[0][i]) && std::isnan(results[1][i])))
          << entry << " at " << i << ": " << results[0][i] << ", "
          << results[1][i];
  }
}

TEST_P(Bf16Test, JoinedLinears) {
  // What fuse-shared-inputs makes: parts of panels of their own.
  const char *module = R"(
transformer.parameter @v : tensor<37x40xf32>
transformer.parameter @w : tensor<37x7xf32>
transformer.parameter @rv : tensor<37x40xbf16> rounded of [@v]
transformer.parameter @rw : tensor<37x7xbf16> rounded of [@w]
transformer.parameter @vw : tensor<37x47xbf16> columns of [@rv, @rw]
func.func @linear(%x: tensor<?x37xf32> {transformer.name = "x",
                                        transformer.dims = ["rows"]})
    -> (tensor<?x40xf32> {transformer.name = "a"},
        tensor<?x7xf32> {transformer.name = "y"}) {
  %w = transformer.weight @vw : tensor<37x47xbf16>
  %r = transformer.round %x : (tensor<?x37xf32>) -> tensor<?x37xbf16>
  %a, %y = transformer.linear %r, %w split [40, 7]
    : (tensor<?x37xbf16>, tensor<37x47xbf16>)
      -> (tensor<?x40xf32>, tensor<?x7xf32>)
  return %a, %y : tensor<?x40xf32>, tensor<?x7xf32>
}
func.func @rounded(%x: tensor<?x37xf32> {transformer.name = "x",
                                         transformer.dims = ["rows"]})
    -> (tensor<?x40xbf16> {transformer.name = "a"},
        tensor<?x7xbf16> {transformer.name = "y"}) {
  %w = transformer.weight @vw : tensor<37x47xbf16>
  %r = transformer.round %x : (tensor<?x37xf32>) -> tensor<?x37xbf16>
  %a, %y = transformer.linear %r, %w round split [40, 7]
    : (tensor<?x37xbf16>, tensor<37x47xbf16>)
      -> (tensor<?x40xbf16>, tensor<?x7xbf16>)
  return %a, %y : tensor<?x40xbf16>, tensor<?x7xbf16>
}
)";
  Weights weights = {{"v", {{37, 40}, wholeNumbers(37 * 40, 1, 100)}},
                     {"w", {{37, 7}, wholeNumbers(37 * 7, 2, 100)}}};
  std::vector<float> x = wholeNumbers(kLinearRows * 37, 3, 100);
  withCode(module, weights, [&](const EntryRunner &code) {
    expectNear(runInBatches(code, "linear", kLinearRows, {{"x", x}}),
               multiply(x, weights["w"].values, std::vector<float>(7)),
               /*tolerance=*/0);
    EntryCall call = prepare(code, "rounded", {{Dim::Rows, kLinearRows}});
    call.set("x", x);
    call();
    EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
    for (auto [name, part] : {std::pair("a", "v"), {"y", "w"}}) {
      const Weight &weight = weights[part];
      std::vector<uint16_t> expected;
      for (double sum :
           multiply(x, weight.values, std::vector<float>(weight.shape[1])))
        expected.push_back(roundedBits(float(sum)));
      EXPECT_EQ(call.get<uint16_t>(name), expected) << name;
    }
  });
}

TEST_P(Bf16Test, Tables) {
  const char *module = R"(
transformer.parameter @t : tensor<9x21xf32>
transformer.parameter @r : tensor<9x21xbf16> rounded of [@t]
func.func @look(%ids: tensor<?xi32> {transformer.name = "ids",
                                     transformer.dims = ["rows"]})
    -> (tensor<?x21xf32> {transformer.name = "y"}) {
  %r = transformer.weight @r : tensor<9x21xbf16>
  %y = transformer.embedding %ids, %r widen {scale = 3.0 : f32}
    : (tensor<?xi32>, tensor<9x21xbf16>) -> tensor<?x21xf32>
  return %y : tensor<?x21xf32>
}
)";
  Weights weights = {{"t", {{9, 21}, randomValues(9 * 21, 1)}}};
  std::vector<int32_t> ids = {0, 8, -1, 3, 3, 1, 7};
  std::vector<double> expected;
  for (int32_t id : ids)
    for (int64_t d = 0; d < 21; ++d)
      expected.push_back(
          id < 0 ? 0 : 3.0f * rounded(weights["t"].values[id * 21 + d]));
  withCode(module, weights, [&](const EntryRunner &code) {
    expectNear(runInBatches(code, "look", ids.size(), {}, {{"ids", ids}}),
               expected, /*tolerance=*/0);
  });
}
