//===- AttentionScoreTests.cpp - Attention wherever its scores lie --------===//
//
// Scores from 1e-30 to the largest float, of which the first tile lies far
// below or above the rest, or each above the one before. Queries and keys are
// chosen so that they are exact in bf16, and scores in f32: what is left is the
// error of the softmax.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Variant {
  std::string name, mask, attributes, region;
  float scale = 1;
  bool (*contains)(int64_t i, int64_t j) = [](int64_t, int64_t) {
    return true;
  };
  float (*score)(float s, int64_t j) = [](float s, int64_t) { return s; };
  /// Scores are weights.
  bool isSum = false;
};
} // namespace

/// Keys that a late mask, or a region, takes away.
static constexpr int64_t kHidden = 19;

static const Variant kVariants[] = {
    {"full", "full", "scale = 1.0 : f32", ""},
    {"causal", "causal", "scale = 1.0 : f32", "", 1,
     [](int64_t i, int64_t j) { return j <= i; }},
    {"late", "not %padding", "scale = 1.0 : f32", "", 1,
     [](int64_t, int64_t j) { return j >= kHidden; }},
    {"scaled", "full", "scale = 0.125 : f32", "", 0.125f},
    // The way half the field writes a mask.
    {"subtracted", "full", "scale = 1.0 : f32", R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %first = arith.constant 19 : i32
    %far = arith.constant 1.0e9 : f32
    %isHidden = arith.cmpi slt, %j, %first : i32
    %below = arith.subf %s, %far : f32
    %t = arith.select %isHidden, %below, %s : f32
    transformer.yield %t : f32
  })",
     1, [](int64_t, int64_t) { return true; },
     [](float s, int64_t j) { return j < kHidden ? s - 1e9f : s; }},
    {"sum", "full", "scale = 1.0 : f32", "normalizer sum", 1,
     [](int64_t, int64_t) { return true; }, [](float s, int64_t) { return s; },
     true}};

/// Totals of 300 such scores are no infinity, and their reciprocals no ordinary
/// numbers.
static constexpr float kLargestSummand = 0x1.8p118f;

/// What tiles multiply at once.
static constexpr int64_t kWidth = 32;

/// The full form, and one step of all queries as rows of one sentence.
static std::string moduleOf(const Variant &variant,
                            const std::string &element) {
  return fill(R"(
func.func @full_NAME(
    %q: tensor<?x?x32xELEMENT> {transformer.name = "q",
                           transformer.dims = ["batch", "target"]},
    %k: tensor<?x?x32xELEMENT> {transformer.name = "k",
                           transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x32xELEMENT> {transformer.name = "v",
                           transformer.dims = ["batch", "source"]},
    %hidden: tensor<?xi32> {transformer.name = "hidden",
                            transformer.dims = ["batch"]})
    -> (tensor<?x?x32xf32> {transformer.name = "y"}) {
  %padding = transformer.mask.padding %hidden : tensor<?xi32>
  %mask = transformer.mask.MASK
  %y = transformer.attention %q, %k, %v mask(%mask)
    {heads = 1 : i64, ATTRIBUTES} REGION
    : (tensor<?x?x32xELEMENT>, tensor<?x?x32xELEMENT>, tensor<?x?x32xELEMENT>,
       !transformer.mask) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}
func.func @step_NAME(
    %q: tensor<?x32xELEMENT> {transformer.name = "q", transformer.dims = ["rows"]},
    %k: tensor<?x?x32xELEMENT> {transformer.name = "k",
                           transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x32xELEMENT> {transformer.name = "v",
                           transformer.dims = ["batch", "source"]},
    %hidden: tensor<?xi32> {transformer.name = "hidden",
                            transformer.dims = ["batch"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["rows"]},
    %sentences: tensor<?xi32> {transformer.name = "sentences",
                               transformer.dims = ["rows"]})
    -> (tensor<?x32xf32> {transformer.name = "y"}) {
  %padding = transformer.mask.padding %hidden : tensor<?xi32>
  %mask = transformer.mask.MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sentences shared {heads = 1 : i64, ATTRIBUTES} REGION
    : (tensor<?x32xELEMENT>, tensor<?x?x32xELEMENT>, tensor<?x?x32xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
)",
              {{"NAME", variant.name},
               {"ELEMENT", element},
               {"MASK", variant.mask},
               {"ATTRIBUTES", variant.attributes},
               {"REGION", variant.region}});
}

namespace {
/// Where the scores of a row lie, as parts of a magnitude.
struct Level {
  const char *name;
  float (*part)(int64_t j);
};
} // namespace

/// The first keys are a tile of x86-64-v4, or two of x86-64-v3.
static const Level kLevels[] = {
    {"all", [](int64_t) { return 1.0f; }},
    {"the first", [](int64_t j) { return j < 8 ? 1.0f : 0.0f; }},
    {"all but the first", [](int64_t j) { return j < 8 ? 0.0f : 1.0f; }},
    {"in opposite places", [](int64_t j) { return j < 8 ? 1.0f : -1.0f; }},
    {"rising", [](int64_t j) { return (j / 8) / 64.0f; }}};

/// Few digits each, so that sums of some are exact; the last is the largest of
/// its type. A sample has those where exp and sums change what they do.
static std::vector<float> magnitudes(bool isOfBf16, bool isSample) {
  std::vector<int> exponents = {-100, 0,  5,  10, 13, 17, 20,  22, 23,
                                24,   27, 30, 33, 66, 99, 118, 126};
  if (isSample)
    exponents = {-100, 5, 17, 23, 24, 66, 118};
  std::vector<float> result;
  for (int exponent : exponents)
    result.push_back(std::ldexp(1.5f, exponent));
  result.push_back(isOfBf16 ? 0x1.fep127f : std::numeric_limits<float>::max());
  return result;
}

namespace {
/// One sentence; queries of rows 1, 0.5 and -1 times the scores of the first.
struct Inputs {
  int64_t queries, keys;
  std::vector<float> q, k, v;

  Inputs(int64_t queries, int64_t keys, const Level &level, float magnitude)
      : queries(queries), keys(keys), q(queries * kWidth), k(keys * kWidth),
        v(randomValues(keys * kWidth, 3)) {
    // A few units of what the scores of a row can tell apart; the largest float
    // has no place for more.
    float unit = magnitude < 0x1p126f ? magnitude * 0x1p-20f : 0;
    for (int64_t i = 0; i < queries; ++i) {
      q[i * kWidth] = std::vector{1.0f, 0.5f, -1.0f}[i % 3];
      q[i * kWidth + kWidth - 1] = 1;
    }
    for (int64_t j = 0; j < keys; ++j) {
      k[j * kWidth] = magnitude * level.part(j);
      k[j * kWidth + kWidth - 1] = std::max(unit, 0.125f) * (j * 7 % 11);
      if (unit == 0)
        k[j * kWidth + kWidth - 1] = 0;
    }
  }

  float score(int64_t i, int64_t j) const {
    return q[i * kWidth] * k[j * kWidth] + k[j * kWidth + kWidth - 1];
  }
};
} // namespace

static std::vector<double> formula(const Variant &variant,
                                   const Inputs &inputs) {
  std::vector<double> y;
  for (int64_t i = 0; i < inputs.queries; ++i) {
    std::vector<double> sums(kWidth);
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    auto score = [&](int64_t j) -> double {
      return variant.score(variant.scale * inputs.score(i, j), j);
    };
    for (int64_t j = 0; j < inputs.keys; ++j)
      if (variant.contains(i, j))
        largest = std::max(largest, score(j));
    for (int64_t j = 0; j < inputs.keys; ++j) {
      if (!variant.contains(i, j))
        continue;
      double weight = variant.isSum ? score(j) : std::exp(score(j) - largest);
      total += weight;
      for (int64_t d = 0; d < kWidth; ++d)
        sums[d] += weight * inputs.v[j * kWidth + d];
    }
    for (double sum : sums)
      y.push_back(total == 0 ? 0 : sum / total);
  }
  return y;
}

class AttentionScoreTest : public LayerTest {};
HEDDLE_FOR_EVERY_CODE_AND_TYPE(AttentionScoreTest);

TEST_P(AttentionScoreTest, FullAndStepForm) {
  std::string module;
  for (const Variant &variant : kVariants)
    module += moduleOf(variant, elementType());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Variant &variant : kVariants)
      for (auto [queries, keys] :
           {std::pair<int64_t, int64_t>(1, 1), {7, 7}, {41, 41}, {3, 300}}) {
        bool hasAll = queries <= 7 || !takesSample();
        // A sample has one level of queries whose keys lie in several tiles.
        if (!hasAll && variant.name != "causal")
          continue;
        for (const Level &level : kLevels)
          for (float magnitude :
               magnitudes(isOfBf16(), takesSample() || runsOneCell()))
            for (float sign : {1.0f, -1.0f}) {
              if (!hasAll && &level != kLevels)
                continue;
              // Scores of one sign: sums do not cancel.
              if (variant.isSum && (&level != kLevels || magnitude < 0x1p10f ||
                                    magnitude > kLargestSummand))
                continue;
              Inputs inputs(queries, keys, level, sign * magnitude);
              inputs.v = inType(inputs.v);
              std::vector<double> expected = formula(variant, inputs);
              std::vector<int32_t> positions;
              for (int32_t i = 0; i < queries; ++i)
                positions.push_back(i);
              for (bool isStep : {false, true}) {
                SCOPED_TRACE(variant.name + ", " + std::to_string(keys) +
                             " keys, " + level.name + " at " +
                             std::to_string(sign * magnitude) +
                             (isStep ? ", step" : ""));
                EntryCall call =
                    prepare(code, (isStep ? "step_" : "full_") + variant.name,
                            {{Dim::Target, queries},
                             {Dim::Source, keys},
                             {Dim::Rows, queries}});
                setInType(call, "q", inputs.q);
                setInType(call, "k", inputs.k);
                setInType(call, "v", inputs.v);
                call.set("hidden", std::vector<int32_t>{kHidden});
                if (isStep)
                  call.set("positions", positions);
                call();
                Status status = call.checkGuards();
                EXPECT_TRUE(status.ok()) << status.message();
                // Weights of up to 300 keys within 4 ulp, sums of them, and a
                // division. Those of bf16 are within 2^-8 of their size, and
                // move means of values in [-1, 1] by twice that at most.
                expectNear(call.get("y"), expected,
                           3e-6 + (isOfBf16() ? 0x1p-7 : 0));
              }
            }
      }
  });
}
