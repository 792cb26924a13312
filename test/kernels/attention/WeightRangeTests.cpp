//===- WeightRangeTests.cpp - Weights of attention of any size ------------===//
//
// Weights that no softmax limits, from 1e-9 to 1e9: all of a row of one size,
// or each of another, in rows beside others; by every normalizer and form that
// takes them, in each type, against formulas in double. Scores are exact: what
// is left are the errors of weights and sums.
//
// In a model scores are not exact: queries and keys are rounded to f16, which
// below 6e-5 has fewer bits. For scores from 7e-7 to 5e-4 a formula in double
// that rounds what products read (weights, table, x, q, k, v) and nothing else
// is off by 4.4e-3 of the largest, as the kernels are; it differs from them by
// 2e-7.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Variant {
  std::string name, mask, regions;
  int64_t keyWidth, valueWidth;
  double (*weight)(double s);
  bool isDivided = true, isCausal = true;
};
} // namespace

static const char *const kSquare = R"(
    %t = arith.mulf %s, %s : f32
    transformer.yield %t : f32
  })";
static const char *const kOfScore =
    "^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):";

static double square(double s) { return s * s; }
static double signedSquare(double s) { return s * std::abs(s); }

/// Widths that tensor cores and whole vectors take, and others; masks of tiles
/// and of lists.
static std::vector<Variant> variants() {
  std::string full = "%mask = transformer.mask.full";
  std::string causal = "%mask = transformer.mask.causal";
  std::string score = std::string("score {\n  ") + kOfScore;
  return {{"sum", full, score + kSquare + " normalizer sum", 16, 32, square,
           /*isDivided=*/true, /*isCausal=*/false},
          {"none", causal, score + R"(
    %size = math.absf %s : f32
    %t = arith.mulf %s, %size : f32
    transformer.yield %t : f32
  } normalizer none)",
           32, 16, signedSquare, /*isDivided=*/false},
          {"region", causal,
           std::string("normalizer {\n  ^bb0(%s: f32):") + kSquare, 7, 9,
           square},
          {"similarity", full, R"(similarity {
  ^bb0(%a: vector<4xf32>, %c: vector<4xf32>):
    %p = arith.mulf %a, %c : vector<4xf32>
    %s = vector.reduction <add>, %p : vector<4xf32> into f32
    %t = arith.mulf %s, %s : f32
    transformer.yield %t : f32
  } normalizer sum)",
           4, 24, square, /*isDivided=*/true, /*isCausal=*/false},
          // As many tokens as there are, in lists beside a window.
          {"lists", R"(%window = transformer.mask.window [left = 9, right = 0]
  %drawn = transformer.mask.random_tokens [count = 300, seed = 7]
  %all = transformer.mask.or %window, %drawn
  %past = transformer.mask.causal
  %mask = transformer.mask.and %all, %past)",
           score + kSquare + " normalizer sum", 16, 16, square}};
}

/// The full form, and one step of all queries as rows of one sentence.
static std::string moduleOf(const Variant &variant,
                            const std::string &element) {
  bool hasScale = variant.name != "similarity";
  return fill(R"(
func.func @full_NAME(
    %q: tensor<?x?xKEYxELEMENT> {transformer.name = "q",
                                 transformer.dims = ["batch", "target"]},
    %k: tensor<?x?xKEYxELEMENT> {transformer.name = "k",
                                 transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVALUExELEMENT> {transformer.name = "v",
                                   transformer.dims = ["batch", "source"]})
    -> (tensor<?x?xVALUExf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    {heads = 1 : i64 SCALE} REGIONS
    : (tensor<?x?xKEYxELEMENT>, tensor<?x?xKEYxELEMENT>,
       tensor<?x?xVALUExELEMENT>, !transformer.mask) -> tensor<?x?xVALUExf32>
  return %y : tensor<?x?xVALUExf32>
}
func.func @step_NAME(
    %q: tensor<?xKEYxELEMENT> {transformer.name = "q",
                               transformer.dims = ["rows"]},
    %k: tensor<?x?xKEYxELEMENT> {transformer.name = "k",
                                 transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVALUExELEMENT> {transformer.name = "v",
                                   transformer.dims = ["batch", "source"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?xVALUExf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences shared {heads = 1 : i64 SCALE} REGIONS
    : (tensor<?xKEYxELEMENT>, tensor<?x?xKEYxELEMENT>,
       tensor<?x?xVALUExELEMENT>, !transformer.mask, tensor<?xi32>,
       tensor<?xi32>) -> tensor<?xVALUExf32>
  return %y : tensor<?xVALUExf32>
}
)",
              {{"NAME", variant.name},
               {"ELEMENT", element},
               {"KEY", std::to_string(variant.keyWidth)},
               {"VALUE", std::to_string(variant.valueWidth)},
               {"MASK", variant.mask},
               {"SCALE", hasScale ? ", scale = 1.0 : f32" : ""},
               {"REGIONS", variant.regions}});
}

namespace {
/// Where the weights of a row lie.
struct Sizes {
  const char *name;
  /// Exponents of a query's and of a key's part of the score; a weight is the
  /// square of their product.
  int (*ofQuery)(int64_t i), (*ofKey)(int64_t j, int64_t keys);
};

/// One sentence: products of the first elements alone, of few digits.
struct Inputs {
  int64_t queries, keys;
  std::vector<float> q, k, v;

  Inputs(const Variant &variant, const Sizes &sizes, int64_t queries,
         int64_t keys)
      : queries(queries), keys(keys), q(queries * variant.keyWidth),
        k(keys * variant.keyWidth),
        v(randomValues(keys * variant.valueWidth, 3)) {
    for (int64_t i = 0; i < queries; ++i)
      q[i * variant.keyWidth] = std::ldexp(1 + i % 3 / 4.0f, sizes.ofQuery(i));
    for (int64_t j = 0; j < keys; ++j) {
      float sign = j % 5 == 2 ? -1 : 1;
      k[j * variant.keyWidth] =
          sign * std::ldexp(1 + j % 7 / 8.0f, sizes.ofKey(j, keys));
    }
  }
};
} // namespace

static int nothing(int64_t) { return 0; }

/// 1e-9 is 2^-30, 1e9 is 2^30. The first keys are a tile or two.
static const Sizes kSizes[] = {
    {"1e-9", [](int64_t) { return -7; }, [](int64_t, int64_t) { return -8; }},
    {"1e-6", nothing, [](int64_t, int64_t) { return -10; }},
    {"1", nothing, [](int64_t, int64_t) { return 0; }},
    {"1e6", nothing, [](int64_t, int64_t) { return 9; }},
    {"1e9", [](int64_t) { return 7; }, [](int64_t, int64_t) { return 7; }},
    {"rising", nothing,
     [](int64_t j, int64_t keys) { return int(28 * j / keys) - 14; }},
    {"falling", nothing,
     [](int64_t j, int64_t keys) { return 13 - int(28 * j / keys); }},
    {"one large one", nothing,
     [](int64_t j, int64_t keys) { return j == keys / 2 ? 14 : -14; }},
    {"mixed, in rows of other sizes", [](int64_t i) { return int(i % 15) - 7; },
     [](int64_t j, int64_t) { return int(j * 7 % 15) - 7; }}};

namespace {
/// Numbers, and how far each may be off.
struct Sums {
  std::vector<double> y, error;
};
} // namespace

class WeightRangeTest : public LayerTest {
protected:
  static Sums formula(const Variant &variant, const Inputs &inputs);
  static EntryCall callOf(const EntryRunner &code, const Variant &variant,
                          const Inputs &inputs, bool isStep);
};
INSTANTIATE_TEST_SUITE_P(, WeightRangeTest,
                         testing::ValuesIn(everyCodeInAnyType()),
                         testing::PrintToStringParamName());

/// A weight is off by one rounding of the type: 2^-8 of bf16 and, on a GPU,
/// 2^-11 of f16; a score, its square and each term of a sum by one of f32, of
/// which sums of n terms have n. An error e of a weight w moves y by
/// e w (v - y) / sum w at most. A GPU's product of f32 is three of tf32:
/// weights and values are sums of two, each within 2^-22, and the product of
/// the lesser ones, of up to 2^-22, is left out.
Sums WeightRangeTest::formula(const Variant &variant, const Inputs &inputs) {
  bool isOnGpu = GetParam().target.find("+emulated") != std::string::npos;
  double ofProduct = isOnGpu && elementType() == "f32" ? 3 * 0x1p-22 : 0;
  double ofWeight = isOfBf16() ? 0x1p-8 : isOfF16() && isOnGpu ? 0x1p-11 : 0;
  Sums result;
  for (int64_t i = 0; i < inputs.queries; ++i) {
    std::vector<double> weights;
    double total = 0, size = 0, count = 4;
    for (int64_t j = 0; j < inputs.keys; ++j) {
      double s = double(inputs.q[i * variant.keyWidth]) *
                 inputs.k[j * variant.keyWidth];
      bool isSeen = !variant.isCausal || j <= i;
      weights.push_back(isSeen ? variant.weight(s) : 0);
      total += weights.back();
      size += std::abs(weights.back());
      count += isSeen;
    }
    double divisor = variant.isDivided ? total : 1;
    for (int64_t d = 0; d < variant.valueWidth; ++d) {
      double y = 0, moved = 0, terms = 0;
      auto value = [&](int64_t j) -> double {
        return inputs.v[j * variant.valueWidth + d];
      };
      for (int64_t j = 0; j < inputs.keys; ++j)
        y += weights[j] * value(j) / divisor;
      for (int64_t j = 0; j < inputs.keys; ++j) {
        double mean = variant.isDivided ? y : 0;
        moved += std::abs(weights[j] * (value(j) - mean) / divisor);
        terms += std::abs(weights[j] * value(j) / divisor);
      }
      if (variant.isDivided)
        terms += std::abs(y) * size / divisor;
      result.y.push_back(y);
      double ofTerm = 0x1p-24 * count + ofProduct;
      result.error.push_back(ofWeight * moved + ofTerm * terms);
    }
  }
  return result;
}

EntryCall WeightRangeTest::callOf(const EntryRunner &code,
                                  const Variant &variant, const Inputs &inputs,
                                  bool isStep) {
  EntryCall call = prepare(code, (isStep ? "step_" : "full_") + variant.name,
                           {{Dim::Target, inputs.queries},
                            {Dim::Source, inputs.keys},
                            {Dim::Rows, inputs.queries}});
  setInType(call, "q", inputs.q);
  setInType(call, "k", inputs.k);
  setInType(call, "v", inputs.v);
  if (isStep) {
    std::vector<int32_t> positions;
    for (int32_t i = 0; i < inputs.queries; ++i)
      positions.push_back(i);
    call.set("positions", positions);
  }
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  return call;
}

TEST_P(WeightRangeTest, FullAndStepForm) {
  std::string module;
  for (const Variant &variant : variants())
    module += moduleOf(variant, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Variant &variant : variants())
      for (auto [queries, keys] :
           {std::pair<int64_t, int64_t>(1, 1), {9, 9}, {41, 41}, {3, 300}})
        for (const Sizes &sizes : kSizes) {
          bool isLarge = queries == 41;
          if (takesSample() && isLarge &&
              ((&sizes - kSizes) % 2 || variant.name == "lists"))
            continue;
          Inputs inputs(variant, sizes, queries, keys);
          inputs.v = inType(inputs.v);
          Sums expected = formula(variant, inputs);
          for (bool isStep : {false, true}) {
            SCOPED_TRACE(variant.name + ", " + std::to_string(keys) +
                         " keys, " + sizes.name + (isStep ? ", step" : ""));
            std::vector<float> y =
                callOf(code, variant, inputs, isStep).get("y");
            for (size_t at = 0; at < y.size(); ++at)
              ASSERT_NEAR(y[at], expected.y[at], expected.error[at])
                  << "at " << at;
          }
        }
  });
}

/// A query's bits do not depend on the size of its neighbours' weights.
TEST_P(WeightRangeTest, BitsOfQueries) {
  std::vector<Variant> some;
  std::string module;
  for (const Variant &variant : variants()) {
    module += moduleOf(variant, elementType());
    if (!variant.isCausal)
      some.push_back(variant);
  }
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Variant &variant : some) {
      SCOPED_TRACE(variant.name);
      Inputs inputs(variant, std::end(kSizes)[-1], 41, 90);
      inputs.q[7 * variant.keyWidth] = std::numeric_limits<float>::quiet_NaN();
      inputs.q[9 * variant.keyWidth] = std::numeric_limits<float>::infinity();
      std::vector<float> all = callOf(code, variant, inputs, false).get("y");
      for (int64_t i : {0, 8, 20, 40}) {
        Inputs one(variant, std::end(kSizes)[-1], 1, 90);
        one.q[0] = inputs.q[i * variant.keyWidth];
        std::vector<float> y = callOf(code, variant, one, false).get("y");
        EXPECT_EQ(std::memcmp(y.data(), &all[i * variant.valueWidth],
                              y.size() * sizeof(float)),
                  0)
            << "query " << i;
      }
    }
  });
}
