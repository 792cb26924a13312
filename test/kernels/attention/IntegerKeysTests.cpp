//===- IntegerKeysTests.cpp - Attention over keys and values of i8 --------===//
//
// Keys and values of f32 are quantised inside of each entry, a head of a
// position with a scale of its own, and compared with a formula that does the
// same: over whole sequences, in blocks of queries, and in steps. A step whose
// past stands in several caches has the bits of one that has a copy of it.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class IntegerKeysTest : public LayerTest {};

/// A mask, which pairs it has, and what is made of a product of vectors. Where
/// pairs are drawn, attention over f32 is what results are compared with.
struct Kind {
  std::string name, mask, regions;
  bool (*contains)(int64_t i, int64_t j);
  double (*score)(double product, double scale);
};
} // namespace

HEDDLE_FOR_EVERY_CODE(IntegerKeysTest);

/// Three heads share keys; widths are no multiples of a vector.
static constexpr int64_t kHeads = 6, kKvHeads = 2, kWidth = 20,
                         kValueWidth = 37;
static constexpr int64_t kQueryWidths = kHeads * kWidth,
                         kKeyWidths = kKvHeads * kWidth,
                         kValueWidths = kKvHeads * kValueWidth,
                         kResultWidths = kHeads * kValueWidth;

static double scaleProduct(double product, double scale) {
  return product * scale;
}

static const Kind kKinds[] = {
    {"causal", "%mask = transformer.mask.causal", "",
     [](int64_t i, int64_t j) { return j <= i; }, scaleProduct},
    {"window",
     "%w = transformer.mask.window [left = 20, right = 0, dilation = [3]]\n"
     "  %c = transformer.mask.causal\n"
     "  %mask = transformer.mask.and %w, %c",
     "",
     [](int64_t i, int64_t j) {
       return j <= i && i - j <= 60 && (i - j) % 3 == 0;
     },
     scaleProduct},
    // Lists of keys: queries of a block go on one by one.
    {"tokens",
     "%t = transformer.mask.random_tokens [count = 9, seed = 3]\n"
     "  %w = transformer.mask.window [left = 4, right = 0]\n"
     "  %o = transformer.mask.or %w, %t\n"
     "  %c = transformer.mask.causal\n"
     "  %mask = transformer.mask.and %o, %c",
     "", nullptr, scaleProduct},
    {"squares", "%mask = transformer.mask.causal", R"( similarity {
  ^bb0(%x: vector<20xf32>, %z: vector<20xf32>):
    %p = arith.mulf %x, %z : vector<20xf32>
    %s = vector.reduction <add>, %p : vector<20xf32> into f32
    %t = arith.mulf %s, %s : f32
    transformer.yield %t : f32
  })",
     [](int64_t i, int64_t j) { return j <= i; },
     [](double product, double) { return product * product; }},
};

static const char *const kFullForm = R"(
func.func @full_KIND(
    %q: tensor<?x?xQxf32> {transformer.name = "q",
                           transformer.dims = ["batch", "source"]},
    %k: tensor<?x?xKxf32> {transformer.name = "k",
                           transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVxf32> {transformer.name = "v",
                           transformer.dims = ["batch", "source"]})
    -> (tensor<?x?xYxf32> {transformer.name = "y"}) {
  MASK
  QUANTIZE
  %y = transformer.attention %q, %qk, %qv key_scales(%ks) value_scales(%vs)
    mask(%mask) {heads = 6 : i64, kv_heads = 2 : i64}REGIONS
    : (tensor<?x?xQxf32>, tensor<?x?xKxi8>, tensor<?x?xVxi8>,
       tensor<?x?x2xf32>, tensor<?x?x2xf32>, !transformer.mask)
      -> tensor<?x?xYxf32>
  return %y : tensor<?x?xYxf32>
}
)";

static const char *const kPlainForm = R"(
func.func @plain_KIND(
    %q: tensor<?x?xQxf32> {transformer.name = "q",
                           transformer.dims = ["batch", "source"]},
    %k: tensor<?x?xKxf32> {transformer.name = "k",
                           transformer.dims = ["batch", "source"]},
    %v: tensor<?x?xVxf32> {transformer.name = "v",
                           transformer.dims = ["batch", "source"]})
    -> (tensor<?x?xYxf32> {transformer.name = "y"}) {
  MASK
  %y = transformer.attention %q, %k, %v
    mask(%mask) {heads = 6 : i64, kv_heads = 2 : i64}REGIONS
    : (tensor<?x?xQxf32>, tensor<?x?xKxf32>, tensor<?x?xVxf32>,
       !transformer.mask) -> tensor<?x?xYxf32>
  return %y : tensor<?x?xYxf32>
}
)";

static const char *const kStepForm = R"(
func.func @HOW_KIND(
    %q: tensor<?xQxf32> {transformer.name = "q", transformer.dims = ["rows"]},
    %k: tensor<?x?xKxf32> {transformer.name = "k",
                           transformer.dims = ["CACHES", "capacity"]},
    %v: tensor<?x?xVxf32> {transformer.name = "v",
                           transformer.dims = ["CACHES", "capacity"]},
    OPERANDS
    %at: tensor<?xi32> {transformer.name = "positions",
                        transformer.dims = ["rows"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?xYxf32> {transformer.name = "y"}) {
  MASK
  QUANTIZE
  %y = transformer.attention %q, %qk, %qv key_scales(%ks) value_scales(%vs)
    mask(%mask) at %at of %of FOUND {heads = 6 : i64, kv_heads = 2 : i64}REGIONS
    : (tensor<?xQxf32>, tensor<?x?xKxi8>, tensor<?x?xVxi8>, tensor<?x?x2xf32>,
       tensor<?x?x2xf32>, !transformer.mask, tensor<?xi32>, tensor<?xi32>TYPE)
      -> tensor<?xYxf32>
  return %y : tensor<?xYxf32>
}
)";

static const char *const kQuantize = R"(
  %qk, %ks = transformer.quantize_heads %k {heads = 2 : i64}
    : (tensor<?x?xKxf32>) -> (tensor<?x?xKxi8>, tensor<?x?x2xf32>)
  %qv, %vs = transformer.quantize_heads %v {heads = 2 : i64}
    : (tensor<?x?xVxf32>) -> (tensor<?x?xVxi8>, tensor<?x?x2xf32>))";

static std::string moduleOf() {
  std::string module;
  for (const Kind &kind : kKinds) {
    auto add = [&](std::string form, const std::string &how,
                   const std::string &caches, const std::string &operands,
                   const std::string &found, const std::string &type) {
      form = fill(form, {{"QUANTIZE", kQuantize},
                         {"MASK", kind.mask},
                         {"REGIONS", kind.regions},
                         {"HOW", how},
                         {"KIND", kind.name},
                         {"CACHES", caches},
                         {"OPERANDS", operands},
                         {"FOUND", found},
                         {"TYPE", type}});
      module +=
          fill(form, {{"xQx", "x" + std::to_string(kQueryWidths) + "x"},
                      {"xKx", "x" + std::to_string(kKeyWidths) + "x"},
                      {"xVx", "x" + std::to_string(kValueWidths) + "x"},
                      {"xYx", "x" + std::to_string(kResultWidths) + "x"}});
    };
    add(kFullForm, "full", "", "", "", "");
    add(kPlainForm, "plain", "", "", "", "");
    add(kStepForm, "copied", "rows", "", "", "");
    add(kStepForm, "through", "caches",
        R"(%through: tensor<?x?xi32> {transformer.name = "history",
                                      transformer.dims = ["rows", "target"]},)",
        "through %through", ", tensor<?x?xi32>");
  }
  return module;
}

/// What quantize_heads keeps of rows of heads of this width, times scales.
static std::vector<double> keptOf(const std::vector<float> &rows,
                                  int64_t width) {
  std::vector<double> kept;
  for (auto head = rows.begin(); head != rows.end(); head += width) {
    float most = 0;
    for (auto x = head; x != head + width; ++x)
      most = std::max(most, std::fabs(*x));
    float scale = most == 0 ? 1 : most / 127;
    for (auto x = head; x != head + width; ++x)
      kept.push_back(std::nearbyint(*x / scale) * double(scale));
  }
  return kept;
}

/// The result of a query of all heads at position i; `keys` and `values` are
/// those of positions 0, 1, ...
static void attend(const Kind &kind, int64_t i, const float *query,
                   const double *keys, const double *values,
                   std::vector<double> &result) {
  for (int64_t head = 0; head < kHeads; ++head) {
    int64_t kvHead = head / (kHeads / kKvHeads);
    std::vector<double> scores(i + 1, -std::numeric_limits<double>::infinity());
    double most = scores[0], total = 0;
    for (int64_t j = 0; j <= i; ++j) {
      if (!kind.contains(i, j))
        continue;
      double product = 0;
      for (int64_t d = 0; d < kWidth; ++d)
        product += query[head * kWidth + d] *
                   keys[j * kKeyWidths + kvHead * kWidth + d];
      scores[j] = kind.score(product, 1 / std::sqrt(double(kWidth)));
      most = std::max(most, scores[j]);
    }
    std::vector<double> sums(kValueWidth);
    for (int64_t j = 0; j <= i; ++j) {
      double w = std::exp(scores[j] - most);
      total += w;
      for (int64_t d = 0; d < kValueWidth; ++d)
        sums[d] += w * values[j * kValueWidths + kvHead * kValueWidth + d];
    }
    for (double sum : sums)
      result.push_back(sum / total);
  }
}

/// Exponents of scores of 100 have errors of 100 2^-24 in f32, of which the
/// products of a key have some.
static constexpr double kTolerance = 3e-5;

TEST_P(IntegerKeysTest, FullForm) {
  withCode(moduleOf(), {}, [&](const EntryRunner &code) {
    for (const Kind &kind : kKinds)
      for (int64_t positions : {1, 7, 33, 300}) {
        if (takesSample() && positions == 300)
          continue;
        SCOPED_TRACE(kind.name + " " + std::to_string(positions));
        constexpr int64_t kBatch = 2;
        int64_t rows = kBatch * positions;
        auto q = randomValues(rows * kQueryWidths, 1, 2);
        auto k = randomValues(rows * kKeyWidths, 2);
        auto v = randomValues(rows * kValueWidths, 3);
        // A head of zeros.
        std::fill_n(k.begin(), kWidth, 0.0f);
        auto run = [&](const std::string &form, const std::vector<float> &keys,
                       const std::vector<float> &values) {
          EntryCall call =
              prepare(code, form + "_" + kind.name,
                      {{Dim::Batch, kBatch}, {Dim::Source, positions}});
          call.set("q", q);
          call.set("k", keys);
          call.set("v", values);
          call();
          Status status = call.checkGuards();
          EXPECT_TRUE(status.ok()) << status.message();
          return call.get("y");
        };
        auto keys = keptOf(k, kWidth), values = keptOf(v, kValueWidth);
        std::vector<float> found = run("full", k, v);
        if (!kind.contains) {
          std::vector<float> plain = run("plain", {keys.begin(), keys.end()},
                                         {values.begin(), values.end()});
          expectNear(found, {plain.begin(), plain.end()}, kTolerance);
          continue;
        }
        std::vector<double> expected;
        for (int64_t b = 0; b < kBatch; ++b)
          for (int64_t i = 0; i < positions; ++i)
            attend(kind, i, &q[(b * positions + i) * kQueryWidths],
                   &keys[b * positions * kKeyWidths],
                   &values[b * positions * kValueWidths], expected);
        expectNear(found, expected, kTolerance);
      }
  });
}

TEST_P(IntegerKeysTest, StepForm) {
  withCode(moduleOf(), {}, [&](const EntryRunner &code) {
    for (const Kind &kind : kKinds)
      for (int64_t positions : {1, 17, 300, 700}) {
        if (takesSample() && positions > 300)
          continue;
        SCOPED_TRACE(kind.name + " " + std::to_string(positions));
        constexpr int64_t kRows = 5, kCaches = 7;
        auto q = randomValues(kRows * kQueryWidths, 1, 2);
        auto k = randomValues(kCaches * positions * kKeyWidths, 2);
        auto v = randomValues(kCaches * positions * kValueWidths, 3);
        std::vector<int32_t> history, at;
        for (float number : randomValues(kRows * positions, 4, 1000))
          history.push_back(int32_t(number + 1000) % kCaches);
        for (int64_t row = 0; row < kRows; ++row)
          at.push_back((positions - 1) * row / (kRows - 1));
        /// Each row's past as it would be copied.
        auto copied = [&](const std::vector<float> &all, int64_t width) {
          std::vector<float> copy(kRows * positions * width,
                                  std::numeric_limits<float>::quiet_NaN());
          for (int64_t row = 0; row < kRows; ++row)
            for (int64_t j = 0; j <= at[row]; ++j)
              std::copy_n(
                  &all[(history[row * positions + j] * positions + j) * width],
                  width, &copy[(row * positions + j) * width]);
          return copy;
        };
        auto run = [&](const std::string &how, const std::vector<float> &keys,
                       const std::vector<float> &values) {
          EntryCall call = prepare(code, how + "_" + kind.name,
                                   {{Dim::Rows, kRows},
                                    {Dim::Caches, kCaches},
                                    {Dim::Target, positions},
                                    {Dim::Capacity, positions}});
          call.set("q", q);
          call.set("k", keys);
          call.set("v", values);
          call.set("positions", at);
          call.set("sentences", std::vector<int32_t>(kRows));
          if (how == "through")
            call.set("history", history);
          call();
          Status status = call.checkGuards();
          EXPECT_TRUE(status.ok()) << status.message();
          return call.get("y");
        };
        auto ownK = copied(k, kKeyWidths), ownV = copied(v, kValueWidths);
        std::vector<float> found = run("copied", ownK, ownV);
        EXPECT_EQ(run("through", k, v), found);
        if (!kind.contains)
          continue;
        auto keys = keptOf(ownK, kWidth), values = keptOf(ownV, kValueWidth);
        std::vector<double> expected;
        for (int64_t row = 0; row < kRows; ++row)
          attend(kind, at[row], &q[row * kQueryWidths],
                 &keys[row * positions * kKeyWidths],
                 &values[row * positions * kValueWidths], expected);
        expectNear(found, expected, kTolerance);
      }
  });
}
