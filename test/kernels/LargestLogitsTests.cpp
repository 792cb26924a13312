// The largest logits of ranges against the logits of a linear, bit for bit, in
// every type and on every ISA level.

#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class LargestLogitsTest : public LayerTest {};

/// What of a vocabulary a test has.
struct Case {
  int64_t depth, vocabulary, range;

  std::string name() const {
    return std::to_string(depth) + "_" + std::to_string(vocabulary) + "_" +
           std::to_string(range);
  }
  int64_t ranges() const { return (vocabulary + range - 1) / range; }
};

/// The values and ids of a row of ranges.
struct Largest {
  std::vector<float> values;
  std::vector<int32_t> ids;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, LargestLogitsTest,
                         testing::ValuesIn(everyCodeOfShortTypes()),
                         testing::PrintToStringParamName());

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A vocabulary below a panel, ranges of one, and ranges of several chunks, of
/// which the last panel is cut.
static const Case kCases[] = {{12, 5, 32}, {36, 100, 32}, {512, 1700, 1152}};

/// Logits and the largest of them, of x as it is and of the types that it is
/// rounded and quantised to.
static const char *const kModule = R"(
transformer.parameter @w_NAME : tensor<DEPTHxVOCABULARYxf32>
transformer.parameter @b_NAME : tensor<VOCABULARYxf32>
PARAMETERS
func.func @TYPE_NAME(
    %x: tensor<?xDEPTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %forbidden: tensor<?x?xi32> {transformer.name = "forbidden",
                                 transformer.dims = ["rows", "forbidden"]})
    -> (tensor<?xVOCABULARYxf32> {transformer.name = "logits"},
        tensor<?xRANGESxf32> {transformer.name = "values"},
        tensor<?xRANGESxi32> {transformer.name = "largest"}) {
  %b = transformer.weight @b_NAME : tensor<VOCABULARYxf32>
  FACTORS
  %y = transformer.linear %q SCALED, %w WEIGHED, %b
    : (tensor<?xDEPTHxELEMENT>, XSCALES tensor<DEPTHxVOCABULARYxELEMENT>,
       WSCALES tensor<VOCABULARYxf32>) -> tensor<?xVOCABULARYxf32>
  %v, %i = transformer.largest_logits %q SCALED, %w WEIGHED, %b
      without %forbidden {range = RANGE : i64, vocabulary = VOCABULARY : i64}
    : (tensor<?xDEPTHxELEMENT>, XSCALES tensor<DEPTHxVOCABULARYxELEMENT>,
       WSCALES tensor<VOCABULARYxf32>, tensor<?x?xi32>)
      -> (tensor<?xRANGESxf32>, tensor<?xRANGESxi32>)
  return %y, %v, %i
    : tensor<?xVOCABULARYxf32>, tensor<?xRANGESxf32>, tensor<?xRANGESxi32>
}
)";

static std::string moduleOf(const Case &sizes, const std::string &type) {
  std::string factors = R"(
  %q = transformer.add %x, %x : (tensor<?xDEPTHxf32>, tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxf32>
  %w = transformer.weight @w_NAME : tensor<DEPTHxVOCABULARYxf32>)";
  std::string parameters;
  if (type == "bf16") {
    parameters = "transformer.parameter @r_NAME : tensor<DEPTHxVOCABULARYxbf16>"
                 " rounded of [@w_NAME]\n";
    factors = R"(
  %q = transformer.round %x : (tensor<?xDEPTHxf32>) -> tensor<?xDEPTHxbf16>
  %w = transformer.weight @r_NAME : tensor<DEPTHxVOCABULARYxbf16>)";
  } else if (type == "i8") {
    parameters = "transformer.parameter @i_NAME : tensor<DEPTHxVOCABULARYxi8>"
                 " column_integers of [@w_NAME]\n"
                 "transformer.parameter @s_NAME : tensor<VOCABULARYxf32>"
                 " column_scales of [@w_NAME]\n";
    factors = R"(
  %q, %t = transformer.quantize %x
    : (tensor<?xDEPTHxf32>) -> (tensor<?xDEPTHxi8>, tensor<?xf32>)
  %w = transformer.weight @i_NAME : tensor<DEPTHxVOCABULARYxi8>
  %s = transformer.weight @s_NAME : tensor<VOCABULARYxf32>)";
  }
  bool hasScales = type == "i8";
  return fill(kModule, {{"PARAMETERS", parameters},
                        {"FACTORS", factors},
                        {"SCALED", hasScales ? "scales(%t)" : ""},
                        {"WEIGHED", hasScales ? "scales(%s)" : ""},
                        {"XSCALES", hasScales ? "tensor<?xf32>," : ""},
                        {"WSCALES", hasScales ? "tensor<VOCABULARYxf32>," : ""},
                        {"TYPE", type},
                        {"ELEMENT", type},
                        {"NAME", sizes.name()},
                        {"DEPTH", std::to_string(sizes.depth)},
                        {"VOCABULARY", std::to_string(sizes.vocabulary)},
                        {"RANGES", std::to_string(sizes.ranges())},
                        {"RANGE", std::to_string(sizes.range)}});
}

/// What the op's description says of a row of logits.
static Largest findLargest(std::vector<float> logits,
                           const std::vector<int32_t> &forbidden,
                           const Case &sizes) {
  for (int32_t id : forbidden)
    if (id >= 0 && id < sizes.vocabulary)
      logits[id] = -kInfinity;
  Largest largest;
  for (int64_t begin = 0; begin < sizes.vocabulary; begin += sizes.range) {
    int64_t end = std::min(begin + sizes.range, sizes.vocabulary);
    float value = -kInfinity, none = -kInfinity;
    int32_t id = -1;
    for (int64_t n = begin; n < end; ++n) {
      if (std::isnan(logits[n]))
        none = logits[n];
      if (logits[n] > value) {
        value = logits[n];
        id = int32_t(n);
      }
    }
    largest.values.push_back(id < 0 ? none : value);
    largest.ids.push_back(id);
  }
  return largest;
}

/// Runs a case and compares each row with what its logits say.
static void check(EntryCall &call, const Case &sizes, int64_t rows,
                  int64_t width, const std::vector<int32_t> &forbidden) {
  call.set("forbidden", forbidden);
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  std::vector<float> logits = call.get("logits"), values = call.get("values");
  std::vector<int32_t> ids = call.get<int32_t>("largest");
  int64_t ranges = sizes.ranges();
  for (int64_t row = 0; row < rows; ++row) {
    auto first = logits.begin() + row * sizes.vocabulary;
    auto list = forbidden.begin() + row * width;
    Largest expected = findLargest({first, first + sizes.vocabulary},
                                   {list, list + width}, sizes);
    for (int64_t k = 0; k < ranges; ++k) {
      SCOPED_TRACE("row " + std::to_string(row) + " range " +
                   std::to_string(k));
      EXPECT_EQ(ids[row * ranges + k], expected.ids[k]);
      float value = values[row * ranges + k];
      if (std::isnan(expected.values[k]))
        EXPECT_TRUE(std::isnan(value)) << value;
      else
        EXPECT_EQ(value, expected.values[k]);
    }
  }
}

TEST_P(LargestLogitsTest, AgreesWithLogits) {
  constexpr int64_t kWidth = 3;
  for (const char *type : {"f32", "bf16", "i8"}) {
    std::string module;
    Weights weights;
    for (const Case &sizes : kCases) {
      module += moduleOf(sizes, type);
      int64_t count = sizes.depth * sizes.vocabulary;
      weights["w_" + sizes.name()] = {{sizes.depth, sizes.vocabulary},
                                      randomValues(count, 1)};
      weights["b_" + sizes.name()] = {{sizes.vocabulary},
                                      randomValues(sizes.vocabulary, 2)};
    }
    withCode(module, weights, [&](const EntryRunner &code) {
      for (const Case &sizes : kCases)
        // Below and above the rows of tiles, and of scratch memory.
        for (int64_t rows : {1, 3, 16, 21, 32, 50, 97}) {
          SCOPED_TRACE(type + ("_" + sizes.name()) + " of " +
                       std::to_string(rows));
          EntryCall call =
              prepare(code, type + ("_" + sizes.name()),
                      {{Dim::Rows, rows}, {Dim::Forbidden, kWidth}});
          call.set("x", randomValues(rows * sizes.depth, 3));
          std::vector<int32_t> forbidden(rows * kWidth, -1);
          check(call, sizes, rows, kWidth, forbidden);
          // Of each row the best of the last range, and what is no id.
          std::vector<int32_t> ids = call.get<int32_t>("largest");
          for (int64_t row = 0; row < rows; ++row) {
            forbidden[row * kWidth + 1] = ids[(row + 1) * sizes.ranges() - 1];
            forbidden[row * kWidth + 2] = int32_t(sizes.vocabulary + row);
          }
          check(call, sizes, rows, kWidth, forbidden);
        }
    });
  }
}

TEST_P(LargestLogitsTest, WhatIsNoNumberIsNeverLargest) {
  // Ids 0 to 31 are no numbers in every row, 32 to 63 are lowest, of 64 to 95
  // all but one are one of these; the first of two that are equal is chosen.
  const Case sizes = {4, 100, 32};
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> bias(sizes.vocabulary, -1);
  for (int64_t n = 0; n < 96; ++n)
    bias[n] = n < 32 || n % 2 == 1 ? kNaN : -kInfinity;
  std::fill(bias.begin() + 32, bias.begin() + 64, -kInfinity);
  bias[77] = 5;
  bias[97] = bias[99] = kInfinity;
  Weights weights = {{"w_" + sizes.name(),
                      {{sizes.depth, sizes.vocabulary},
                       randomValues(sizes.depth * sizes.vocabulary, 1)}},
                     {"b_" + sizes.name(), {{sizes.vocabulary}, bias}}};
  for (const char *type : {"f32", "bf16", "i8"})
    withCode(moduleOf(sizes, type), weights, [&](const EntryRunner &code) {
      constexpr int64_t kRows = 5;
      EntryCall call = prepare(code, type + ("_" + sizes.name()),
                               {{Dim::Rows, kRows}, {Dim::Forbidden, 1}});
      call.set("x", randomValues(kRows * sizes.depth, 3));
      check(call, sizes, kRows, 1, std::vector<int32_t>(kRows, -1));
      EXPECT_EQ(call.get<int32_t>("largest"),
                (std::vector<int32_t>{-1, -1, 77, 97, -1, -1, 77, 97, -1, -1,
                                      77, 97, -1, -1, 77, 97, -1, -1, 77, 97}));
      check(call, sizes, kRows, 1, std::vector<int32_t>(kRows, 77));
    });
}

TEST_P(LargestLogitsTest, ThreadsChangeNoBit) {
  const Case sizes = {36, 300, 96};
  constexpr int64_t kRows = 37;
  Weights weights = {{"w_" + sizes.name(),
                      {{sizes.depth, sizes.vocabulary},
                       randomValues(sizes.depth * sizes.vocabulary, 1)}},
                     {"b_" + sizes.name(),
                      {{sizes.vocabulary}, randomValues(sizes.vocabulary, 2)}}};
  auto pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  for (const char *type : {"f32", "bf16", "i8"})
    withCode(moduleOf(sizes, type), weights, [&](const EntryRunner &code) {
      EntryCall call = prepare(code, type + ("_" + sizes.name()),
                               {{Dim::Rows, kRows}, {Dim::Forbidden, 1}});
      call.set("x", randomValues(kRows * sizes.depth, 3));
      call.set("forbidden", std::vector<int32_t>(kRows, 7));
      call();
      std::vector<float> values = call.get("values");
      std::vector<int32_t> ids = call.get<int32_t>("largest");
      call(pool->get());
      EXPECT_EQ(call.get("values"), values);
      EXPECT_EQ(call.get<int32_t>("largest"), ids);
    });
}
