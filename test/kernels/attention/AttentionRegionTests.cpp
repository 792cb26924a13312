//===- AttentionRegionTests.cpp - Score regions and normalizers -----------===//
//
// What regions make of scores, in both forms, against formulas in double.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::test;

static constexpr int64_t kHeads = 2, kWidth = 32, kLongest = 70;

namespace {
/// Regions as IR and as formulas.
struct Variant {
  std::string name, regions;
  std::function<double(double s, double table, int64_t distance)> score;
  /// The weight of a score; softmax where there is none.
  std::function<double(double s)> weight;
  bool isDivided = true;
};
} // namespace

static double asItIs(double s, double, int64_t) { return s; }

/// `table` in a formula is the element [h, i - j].
static const Variant kVariants[] = {
    {"soft_cap",
     R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %two = arith.constant 2.0 : f32
    %part = arith.divf %s, %two : f32
    %capped = math.tanh %part : f32
    %t = arith.mulf %capped, %two : f32
    transformer.yield %t : f32
  })",
     [](double s, double, int64_t) { return 2 * std::tanh(s / 2); },
     {}},
    // An index that differs from lane to lane, and outside of the mask from the
    // table.
    {"relative_bias",
     R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %distance = arith.subi %i, %j : i32
    %bias = transformer.lookup %table[%h, %distance] : tensor<2x70xf32> -> f32
    %t = arith.addf %s, %bias : f32
    transformer.yield %t : f32
  })",
     [](double s, double table, int64_t) { return s + table; },
     {}},
    // A choice between lanes.
    {"distance",
     R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %distance = arith.subi %i, %j : i32
    %limit = arith.constant 9 : i32
    %near = arith.cmpi slt, %distance, %limit : i32
    %f = arith.sitofp %distance : i32 to f32
    %far = arith.subf %s, %f : f32
    %t = arith.select %near, %s, %far : f32
    transformer.yield %t : f32
  })",
     [](double s, double, int64_t distance) {
       return distance < 9 ? s : s - distance;
     },
     {}},
    {"sum", R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = arith.mulf %s, %s : f32
    transformer.yield %t : f32
  } normalizer sum)",
     [](double s, double, int64_t) { return s * s; },
     [](double s) { return s; }},
    {"none", "normalizer none", asItIs, [](double s) { return s; }, false},
    {"region", R"(normalizer {
  ^bb0(%s: f32):
    %w = math.exp %s : f32
    transformer.yield %w : f32
  })",
     asItIs, [](double s) { return std::exp(s); }}};

/// The full form, and one step of all queries as rows of one sentence.
static std::string moduleOf(const Variant &variant,
                            const std::string &element) {
  return fill(R"(
transformer.parameter @table_NAME : tensor<2x70xf32>
func.func @full_NAME(
    %q: tensor<?x?x64xELEMENT> {transformer.name = "q",
                            transformer.dims = ["batch", "source"]},
    %k: tensor<?x?x64xELEMENT> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x64xELEMENT> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]})
    -> (tensor<?x?x64xf32> {transformer.name = "y"}) {
  %table = transformer.weight @table_NAME : tensor<2x70xf32>
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask) {heads = 2 : i64} REGIONS
    : (tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>,
       tensor<?x?x64xELEMENT>,
       !transformer.mask) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}
func.func @step_NAME(
    %q: tensor<?x64xELEMENT> {transformer.name = "q",
                          transformer.dims = ["rows"]},
    %k: tensor<?x?x64xELEMENT> {transformer.name = "k",
                            transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x64xELEMENT> {transformer.name = "v",
                            transformer.dims = ["batch", "source"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?x64xf32> {transformer.name = "y"}) {
  %table = transformer.weight @table_NAME : tensor<2x70xf32>
  %mask = transformer.mask.causal
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences shared {heads = 2 : i64} REGIONS
    : (tensor<?x64xELEMENT>, tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
)",
              {{"NAME", variant.name},
               {"ELEMENT", element},
               {"REGIONS", variant.regions}});
}

namespace {
/// Numbers, and how far a weight's error of one part of its size, whichever
/// weights have it, moves each at most.
struct Sums {
  std::vector<double> y, perError;
};
} // namespace

/// y of one sentence under a causal mask.
static Sums formula(const Variant &variant, int64_t length,
                    const std::vector<float> &q, const std::vector<float> &k,
                    const std::vector<float> &v,
                    const std::vector<float> &table) {
  std::vector<double> y(length * kHeads * kWidth), perError(y.size());
  for (int64_t i = 0; i < length; ++i)
    for (int64_t h = 0; h < kHeads; ++h) {
      auto at = [&](int64_t row) { return (row * kHeads + h) * kWidth; };
      std::vector<double> weights;
      double total = 0;
      for (int64_t j = 0; j <= i; ++j) {
        double s = 0;
        for (int64_t d = 0; d < kWidth; ++d)
          s += double(q[at(i) + d]) * k[at(j) + d] / std::sqrt(double(kWidth));
        s = variant.score(s, table[h * kLongest + i - j], i - j);
        // Scores are small: no maximum is needed in double.
        weights.push_back(variant.weight ? variant.weight(s) : std::exp(s));
        total += weights.back();
      }
      double divisor = variant.isDivided ? total : 1.0;
      for (int64_t j = 0; j <= i; ++j)
        for (int64_t d = 0; d < kWidth; ++d)
          y[at(i) + d] += weights[j] * v[at(j) + d] / divisor;
      for (int64_t j = 0; j <= i; ++j)
        for (int64_t d = 0; d < kWidth; ++d) {
          double mean = variant.isDivided ? y[at(i) + d] : 0;
          perError[at(i) + d] +=
              std::abs(weights[j] * (v[at(j) + d] - mean) / divisor);
        }
    }
  return {y, perError};
}

class AttentionRegionTest : public LayerTest {
protected:
  /// Both forms.
  void expectFormula(const std::vector<Variant> &variants,
                     const std::vector<int64_t> &lengths);
};
HEDDLE_FOR_EVERY_CODE_AND_TYPE(AttentionRegionTest);

void AttentionRegionTest::expectFormula(const std::vector<Variant> &variants,
                                        const std::vector<int64_t> &lengths) {
  std::string module;
  Weights weights;
  std::vector<float> table = randomValues(kHeads * kLongest, 4, 3);
  for (const Variant &variant : variants) {
    module += moduleOf(variant, elementType());
    weights["table_" + variant.name] = {{kHeads, kLongest}, table};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Variant &variant : variants)
      for (int64_t length : lengths) {
        SCOPED_TRACE(variant.name + " " + std::to_string(length));
        int64_t count = length * kHeads * kWidth;
        std::vector<float> q = inType(randomValues(count, 1, 2)),
                           k = inType(randomValues(count, 2, 2)),
                           v = inType(randomValues(count, 3));
        Sums expected = formula(variant, length, q, k, v, table);
        std::vector<int32_t> positions;
        for (int32_t i = 0; i < length; ++i)
          positions.push_back(i);
        for (bool isStep : {false, true}) {
          EntryCall call =
              prepare(code, (isStep ? "step_" : "full_") + variant.name,
                      {{Dim::Source, length}, {Dim::Rows, length}});
          setInType(call, "q", q);
          setInType(call, "k", k);
          setInType(call, "v", v);
          if (isStep)
            call.set("positions", positions);
          call();
          Status status = call.checkGuards();
          EXPECT_TRUE(status.ok()) << status.message();
          // Sums of up to 70 weights that cancel in part where they are not
          // positive (none), each with an error of some 1e-6. Those of bf16
          // have one of 2^-9 of their size, and 2^-18 beside the first order.
          std::vector<float> y = call.get("y");
          if (!isOfBf16()) {
            expectNear(y, expected.y, 5e-5);
            continue;
          }
          for (size_t at = 0; at < y.size(); ++at)
            ASSERT_NEAR(y[at], expected.y[at],
                        5e-5 * (1 + std::abs(expected.y[at])) +
                            1.01 * 0x1p-8 * expected.perError[at])
                << "at " << at;
        }
      }
  });
}

TEST_P(AttentionRegionTest, FullAndStepForm) {
  expectFormula({std::begin(kVariants), std::end(kVariants)},
                {1, 7, 33, kLongest});
}

class WarpgroupRegionTest : public AttentionRegionTest {};
INSTANTIATE_TEST_SUITE_P(, WarpgroupRegionTest,
                         testing::ValuesIn(hopperOfBf16()),
                         testing::PrintToStringParamName());

TEST_P(WarpgroupRegionTest, FullForm) {
  // Blocks of one warpgroup, and of two.
  expectFormula({kVariants[1]}, {33, kLongest});
}

TEST(WarpgroupRegionPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  std::string module;
  Weights weights;
  for (const Variant &variant : kVariants) {
    module += moduleOf(variant, "bf16");
    weights["table_" + variant.name] = {{kHeads, kLongest},
                                        std::vector<float>(kHeads * kLongest)};
  }
  Status status = EntryRunner::assemble(module, weights, "sm_90a", "sm_90a");
  EXPECT_TRUE(status.ok()) << status.message();
}
