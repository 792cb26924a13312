//===- RelativeAttentionTests.cpp - Vectors of relative positions ---------===//
//
// Scores with products of queries, of keys or of both with vectors of relative
// positions, against their formula: where tables have a vector for each
// distance, and where most distances have that of an end. Of the ragged form a
// sequence has the bits of the full form.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/attention/AttentionCases.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

/// Widths that tensor cores and AMX multiply without these vectors.
static constexpr int64_t kHeads = 2, kWidth = 32, kValueWidth = 32;
static constexpr float kScale = 0.125f;

namespace {
struct Tables {
  bool hasKeys, hasQueries;
  int64_t far;
  Mask mask = kFull;
  /// What stands behind scores.
  std::string region = {};

  int64_t columns() const { return 2 * far + 1; }
  std::string name() const {
    return mask.name + (hasKeys ? "_keys" : "") +
           (hasQueries ? "_queries" : "") + (region.empty() ? "" : "_plus_1") +
           "_" + std::to_string(far);
  }
};
} // namespace

/// Without vectors of relative positions, blocks hold every third position.
static const Mask kDilated = {
    "dilated",
    "%mask = transformer.mask.window [left = 3, right = 1, dilation = [3]]",
    [](int64_t i, int64_t j, int64_t) {
      return (i - j) % 3 == 0 && i - j <= 9 && j - i <= 3;
    }};

static const char *const kPlusOne = R"(score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %one = arith.constant 1.0 : f32
    %t = arith.addf %s, %one : f32
    transformer.yield %t : f32
  })";

static std::string moduleOf(const Tables &each, const std::string &element) {
  std::string clauses, types;
  for (auto [has, clause] :
       {std::pair(each.hasKeys, "relative_keys(%ra) "),
        std::pair(each.hasQueries, "relative_queries(%rb) ")})
    if (has) {
      clauses += clause;
      types += ", tensor<64xCOLUMNSxf32>";
    }
  return fill(R"(
transformer.parameter @a_NAME : tensor<64xCOLUMNSxf32>
transformer.parameter @b_NAME : tensor<64xCOLUMNSxf32>
func.func @NAME(
    %q: tensor<?x?x64xELEMENT> {transformer.name = "q",
                                transformer.dims = ["batch", "target"]},
    %k: tensor<?x?x64xELEMENT> {transformer.name = "k",
                                transformer.dims = ["batch", "source"]},
    %v: tensor<?x?x64xELEMENT> {transformer.name = "v",
                                transformer.dims = ["batch", "source"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]})
    -> (tensor<?x?x64xf32> {transformer.name = "y"}) {
  %ra = transformer.weight @a_NAME : tensor<64xCOLUMNSxf32>
  %rb = transformer.weight @b_NAME : tensor<64xCOLUMNSxf32>
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) CLAUSES
    {heads = 2 : i64, scale = 0.125 : f32} REGION
    : (tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>, tensor<?x?x64xELEMENT>,
       !transformer.mask TYPES) -> tensor<?x?x64xf32>
  return %y : tensor<?x?x64xf32>
}
func.func @NAME_ragged(
    %q: tensor<?x64xELEMENT> {transformer.name = "q",
                              transformer.dims = ["tokens"]},
    %k: tensor<?x64xELEMENT> {transformer.name = "k",
                              transformer.dims = ["tokens"]},
    %v: tensor<?x64xELEMENT> {transformer.name = "v",
                              transformer.dims = ["tokens"]},
    %lengths: tensor<?xi32> {transformer.name = "lengths",
                             transformer.dims = ["batch"]},
    %positions: tensor<?xi32> {transformer.name = "positions",
                               transformer.dims = ["tokens"]},
    %sequences: tensor<?xi32> {transformer.name = "sequences",
                               transformer.dims = ["tokens"]},
    %blocks: tensor<?xi32> {transformer.name = "blocks",
                            transformer.dims = ["blocks"]})
    -> (tensor<?x64xf32> {transformer.name = "y"}) {
  %ra = transformer.weight @a_NAME : tensor<64xCOLUMNSxf32>
  %rb = transformer.weight @b_NAME : tensor<64xCOLUMNSxf32>
  MASK
  %y = transformer.attention %q, %k, %v mask(%mask) at %positions
    of %sequences ragged(%blocks, %lengths) CLAUSES
    {heads = 2 : i64, scale = 0.125 : f32} REGION
    : (tensor<?x64xELEMENT>, tensor<?x64xELEMENT>, tensor<?x64xELEMENT>,
       !transformer.mask, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>,
       tensor<?xi32> TYPES) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
)",
              {{"MASK", each.mask.text},
               {"CLAUSES", clauses},
               {"TYPES", types},
               {"REGION", each.region},
               {"COLUMNS", std::to_string(each.columns())},
               {"NAME", each.name()},
               {"ELEMENT", element}});
}

namespace {
/// Of sequences one behind the other, or of one.
struct Rows {
  std::vector<float> q, k, v;

  explicit Rows(int64_t count)
      : q(randomValues(count * kHeads * kWidth, 1, 2)),
        k(randomValues(count * kHeads * kWidth, 2, 2)),
        v(randomValues(count * kHeads * kValueWidth, 3)) {}

  Rows some(int64_t first, int64_t count) const {
    Rows result(0);
    auto take = [&](const std::vector<float> &from, int64_t width) {
      return std::vector<float>(from.begin() + first * width,
                                from.begin() + (first + count) * width);
    };
    result.q = take(q, kHeads * kWidth);
    result.k = take(k, kHeads * kWidth);
    result.v = take(v, kHeads * kValueWidth);
    return result;
  }
};

class RelativeAttentionTest : public LayerTest {
protected:
  /// What an attention of one sequence computes.
  static std::vector<double> formula(const Tables &tables, int64_t length,
                                     const Rows &rows,
                                     const std::vector<float> &a,
                                     const std::vector<float> &b) {
    std::vector<double> y;
    for (int64_t i = 0; i < length; ++i)
      for (int64_t h = 0; h < kHeads; ++h) {
        std::vector<double> weights, sums(kValueWidth);
        double total = 0;
        for (int64_t j = 0; j < length; ++j) {
          int64_t column =
              std::clamp<int64_t>(tables.far + i - j, 0, 2 * tables.far);
          double score = 0;
          for (int64_t d = h * kWidth; d < (h + 1) * kWidth; ++d) {
            double q = rows.q[i * kHeads * kWidth + d],
                   k = rows.k[j * kHeads * kWidth + d];
            score += q * k;
            if (tables.hasKeys)
              score += q * double(a[d * tables.columns() + column]);
            if (tables.hasQueries)
              score += k * double(b[d * tables.columns() + column]);
          }
          score = kScale * score + (tables.region.empty() ? 0 : 1);
          bool isSeen = tables.mask.contains(i, j, length);
          double weight = isSeen ? std::exp(score) : 0;
          total += weight;
          for (int64_t d = 0; d < kValueWidth; ++d)
            sums[d] += weight * rows.v[(j * kHeads + h) * kValueWidth + d];
        }
        for (double sum : sums)
          y.push_back(total == 0 ? 0 : sum / total);
      }
    return y;
  }

  static std::vector<float> finish(EntryCall &call, const Rows &rows) {
    setInType(call, "q", rows.q);
    setInType(call, "k", rows.k);
    setInType(call, "v", rows.v);
    call();
    Status status = call.checkGuards();
    EXPECT_TRUE(status.ok()) << status.message();
    return call.get("y");
  }

  static void expectSequences(const EntryRunner &code, const Tables &each,
                              const Weights &weights,
                              const std::vector<int64_t> &lengths) {
    SCOPED_TRACE(each.name());
    RaggedRows ragged(lengths);
    Rows all(int64_t(ragged.positions.size()));
    for (std::vector<float> *values : {&all.q, &all.k, &all.v})
      *values = inType(*values);
    EntryCall call = prepare(code, each.name() + "_ragged", ragged.dims());
    ragged.setOn(call);
    std::vector<float> together = finish(call, all);
    int64_t first = 0;
    for (int64_t length : lengths) {
      Rows rows = all.some(first, length);
      EntryCall alone = prepare(
          code, each.name(),
          {{Dim::Batch, 1}, {Dim::Target, length}, {Dim::Source, length}});
      alone.set("lengths", std::vector<int32_t>{int32_t(length)});
      std::vector<float> found = finish(alone, rows);
      // As in AttentionCaseTest.
      expectNear(found,
                 formula(each, length, rows,
                         weights.at("a_" + each.name()).values,
                         weights.at("b_" + each.name()).values),
                 5e-5 + (isOfBf16() ? 0x1p-7 : 0));
      auto row = together.begin() + first * kHeads * kValueWidth;
      EXPECT_EQ(found,
                std::vector<float>(row, row + length * kHeads * kValueWidth))
          << "a sequence of " << length;
      first += length;
    }
  }
};
} // namespace

HEDDLE_FOR_EVERY_CODE_AND_TYPE(RelativeAttentionTest);

TEST_P(RelativeAttentionTest, AddsProductsWithVectorsOfDistances) {
  std::vector<Tables> all = {{true, true, 9},
                             {true, true, 200},
                             {true, false, 40},
                             {false, true, 40},
                             {true, true, 40, kWindow},
                             {true, true, 4, kDilated},
                             {true, true, 40, kPadding, kPlusOne}};
  std::vector<int64_t> lengths = {5, 33, 64, 1, 90};
  if (takesSample())
    lengths = {5, 33, 1};
  std::string module;
  Weights weights;
  for (const Tables &each : all) {
    module += moduleOf(each, elementType());
    int64_t size = kHeads * kWidth * each.columns();
    weights["a_" + each.name()] = {{kHeads * kWidth, each.columns()},
                                   randomValues(size, 4)};
    weights["b_" + each.name()] = {{kHeads * kWidth, each.columns()},
                                   randomValues(size, 5)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (const Tables &each : all)
      expectSequences(code, each, weights, lengths);
  });
}
