//===- PoolTests.cpp - One vector for a sequence --------------------------===//
//
// Every mode of pool against its formula, with values behind the end of a
// sequence that are no numbers; and vectors of length 1.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/LayerTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class PoolTest : public LayerTest {};

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// A vector's length that counts as least.
constexpr double kEpsilon = 1e-4;
/// Sequences of a batch: of all positions, of one, of none, and without any
/// position that is pooled.
constexpr int64_t kLength = 21;
const std::vector<int32_t> kEnds = {21, 1, 0, 8, 5, 13};
const std::vector<int32_t> kFirsts = {2, 0, 0, 8, 9, 12};

struct Shape {
  int64_t width;
  std::vector<std::string> modes;
  bool hasFirst;

  std::string name() const { return "pool_" + std::to_string(width); }
};
} // namespace

HEDDLE_FOR_EVERY_CODE(PoolTest);

/// No vector of a level, one, several, and what is left of one; all modes in
/// two orders, some, and one.
static const std::vector<Shape> &shapes() {
  static const std::vector<Shape> all = {
      {1, {"mean", "last"}, true},
      {7, {"last", "mean_sqrt", "cls", "weighted_mean", "max", "mean"}, true},
      {16, {"mean"}, false},
      {21, {"cls", "max", "mean", "mean_sqrt", "weighted_mean", "last"}, false},
      {40, {"weighted_mean", "max"}, true}};
  return all;
}

static std::string moduleOf(const Shape &shape) {
  std::string modes;
  for (const std::string &mode : shape.modes)
    modes += (modes.empty() ? "" : ", ") + mode;
  int64_t width = shape.width * int64_t(shape.modes.size());
  return fill(R"(
func.func @NAME(
    %x: tensor<?x?xWIDTHxf32> {transformer.name = "x",
                               transformer.dims = ["batch", "source"]},
    %n: tensor<?xi32> {transformer.name = "lengths",
                       transformer.dims = ["batch"]} ARGUMENT)
    -> (tensor<?xRESULTxf32> {transformer.name = "y"}) {
  %y = transformer.pool [MODES] %x of %n FROM
    : (tensor<?x?xWIDTHxf32>, tensor<?xi32> TYPE) -> tensor<?xRESULTxf32>
  return %y : tensor<?xRESULTxf32>
}
func.func @NAME_ragged(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["tokens"]},
    %n: tensor<?xi32> {transformer.name = "lengths",
                       transformer.dims = ["batch"]},
    %starts: tensor<?xi32> {transformer.name = "starts",
                            transformer.dims = ["batch"]} ARGUMENT)
    -> (tensor<?xRESULTxf32> {transformer.name = "y"}) {
  %y = transformer.pool [MODES] %x of %n FROM starts %starts
    : (tensor<?xWIDTHxf32>, tensor<?xi32> TYPE, tensor<?xi32>)
      -> tensor<?xRESULTxf32>
  return %y : tensor<?xRESULTxf32>
}
)",
              {{"ARGUMENT", shape.hasFirst ? R"(, %first: tensor<?xi32>
                      {transformer.name = "prompt", transformer.dims = ["batch"]})"
                                           : ""},
               {"FROM", shape.hasFirst ? "from %first" : ""},
               {"TYPE", shape.hasFirst ? ", tensor<?xi32>" : ""},
               {"NAME", shape.name()},
               {"MODES", modes},
               {"WIDTH", std::to_string(shape.width)},
               {"RESULT", std::to_string(width)}});
}

/// What `mode` makes of a column of a sequence, of which x(i) is at position i.
template <typename Column>
static double formula(const std::string &mode, int64_t first, int64_t end,
                      Column x) {
  if (mode == "cls")
    return x(0);
  if (mode == "last")
    return first < end ? x(end - 1) : 0;
  double sum = 0, weighted = 0, weight = 0, most = -1e9, count = 0;
  for (int64_t i = first; i < end; ++i) {
    sum += x(i);
    weighted += double(i + 1) * x(i);
    weight += double(i + 1);
    most = std::max(most, double(x(i)));
    ++count;
  }
  if (mode == "max")
    return most;
  if (count == 0)
    return 0;
  return mode == "mean"        ? sum / count
         : mode == "mean_sqrt" ? sum / std::sqrt(count)
                               : weighted / weight;
}

TEST_P(PoolTest, Modes) {
  std::string module;
  for (const Shape &shape : shapes())
    module += moduleOf(shape);
  int64_t batch = int64_t(kEnds.size());
  withCode(module, {}, [&](const EntryRunner &code) {
    for (const Shape &shape : shapes()) {
      SCOPED_TRACE(shape.name());
      int64_t width = shape.width;
      // Below 0 at times throughout, so that the largest is one of them.
      std::vector<float> x = randomValues(batch * kLength * width, 1, 4);
      for (int64_t d = 0; d < width; d += 2)
        for (int64_t i = 0; i < batch * kLength; ++i)
          x[size_t(i * width + d)] -= 9;
      auto at = [&](int64_t sequence, int64_t i, int64_t d) -> float & {
        return x[size_t((sequence * kLength + i) * width + d)];
      };
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t i = std::max(1, kEnds[size_t(b)]); i < kLength; ++i)
          std::fill_n(&at(b, i, 0), width, kNaN);
      auto run = [&](int64_t first, int64_t count, int64_t length) {
        EntryCall call = prepare(code, shape.name(),
                                 {{Dim::Batch, count}, {Dim::Source, length}});
        auto take = [&](const std::vector<int32_t> &numbers) {
          return std::vector<int32_t>(numbers.begin() + first,
                                      numbers.begin() + first + count);
        };
        auto *values = call.data<float>("x");
        for (int64_t b = first; b < first + count; ++b)
          values = std::copy_n(&at(b, 0, 0), length * width, values);
        call.set("lengths", take(kEnds));
        if (shape.hasFirst)
          call.set("prompt", take(kFirsts));
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      // One behind the other; what has no position has one row, for `cls`.
      auto runRagged = [&] {
        std::vector<int32_t> starts;
        std::vector<float> rows;
        for (int64_t b = 0; b < batch; ++b) {
          starts.push_back(int32_t(rows.size()) / int32_t(width));
          rows.insert(rows.end(), &at(b, 0, 0),
                      &at(b, 0, 0) + std::max(1, kEnds[size_t(b)]) * width);
        }
        EntryCall call = prepare(
            code, shape.name() + "_ragged",
            {{Dim::Batch, batch}, {Dim::Tokens, int64_t(rows.size()) / width}});
        call.set("x", rows);
        call.set("lengths", kEnds);
        call.set("starts", starts);
        if (shape.hasFirst)
          call.set("prompt", kFirsts);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        return call.get("y");
      };
      std::vector<float> y = run(0, batch, kLength);
      std::vector<double> expected;
      for (int64_t b = 0; b < batch; ++b)
        for (const std::string &mode : shape.modes)
          for (int64_t d = 0; d < width; ++d) {
            int64_t end = kEnds[size_t(b)];
            int64_t first = shape.hasFirst ? kFirsts[size_t(b)] : 0;
            expected.push_back(formula(mode, first, end,
                                       [&](int64_t i) { return at(b, i, d); }));
          }
      // 21 rounding errors of 2^-24, of sums of up to 13 * 21.
      expectNear(y, expected, 2e-5);
      EXPECT_EQ(runRagged(), y);
      // Alone and without its padding, a sequence has the same bits.
      int64_t columns = int64_t(y.size()) / batch;
      for (int64_t b = 0; b < batch; ++b)
        EXPECT_EQ(run(b, 1, std::max(1, kEnds[size_t(b)])),
                  std::vector<float>(y.begin() + b * columns,
                                     y.begin() + (b + 1) * columns))
            << "sequence " << b;
    }
  });
}

TEST_P(PoolTest, LargestNumbersOfRowsInChunks) {
  if (takesSample())
    GTEST_SKIP() << "a sample leaves so many logits to --all";
  // More logits than a chunk has: 300 rows of 30,000 are two of 150.
  constexpr int64_t kWidth = 4, kWords = 30000;
  const std::string module = R"(
transformer.parameter @w : tensor<4x30000xf32>
func.func @largest(
    %x: tensor<?x4xf32> {transformer.name = "x",
                         transformer.dims = ["tokens"]},
    %n: tensor<?xi32> {transformer.name = "lengths",
                       transformer.dims = ["batch"]},
    %starts: tensor<?xi32> {transformer.name = "starts",
                            transformer.dims = ["batch"]})
    -> (tensor<?x30000xf32> {transformer.name = "y"}) {
  %w = transformer.weight @w : tensor<4x30000xf32>
  %logits = transformer.linear %x, %w
    : (tensor<?x4xf32>, tensor<4x30000xf32>) -> tensor<?x30000xf32>
  %y = transformer.pool [max] %logits of %n starts %starts
    : (tensor<?x30000xf32>, tensor<?xi32>, tensor<?xi32>)
      -> tensor<?x30000xf32>
  return %y : tensor<?x30000xf32>
}
)";
  Weights weights = {
      {"w", {{kWidth, kWords}, randomValues(kWidth * kWords, 2)}}};
  // Within a chunk, across its end, and none.
  const std::vector<int32_t> lengths = {100, 1, 120, 0, 79};
  withCode(module, weights, [&](const EntryRunner &code) {
    std::vector<float> x = randomValues(300 * kWidth, 1);
    auto run = [&](std::vector<int32_t> sizes, const float *rows) {
      std::vector<int32_t> starts;
      int32_t count = 0;
      for (int32_t size : sizes) {
        starts.push_back(count);
        count += size;
      }
      // A sequence of none beside a row of another.
      int64_t tokens = std::max(count, 1);
      EntryCall call =
          prepare(code, "largest",
                  {{Dim::Batch, int64_t(sizes.size())}, {Dim::Tokens, tokens}});
      call.set("x", std::vector<float>(rows, rows + tokens * kWidth));
      call.set("lengths", sizes);
      call.set("starts", starts);
      call();
      EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
      return call.get("y");
    };
    std::vector<float> all = run(lengths, x.data()), alone;
    const float *rows = x.data();
    for (int32_t length : lengths) {
      std::vector<float> own = run({length}, rows);
      alone.insert(alone.end(), own.begin(), own.end());
      rows += length * kWidth;
    }
    EXPECT_EQ(all, alone);
    EXPECT_EQ(all[3 * kWords], -1e9f);
    // The largest of the first row's products and those of the next 99.
    double largest = -1e9;
    const std::vector<float> &w = weights.at("w").values;
    for (int64_t i = 0; i < 100; ++i) {
      double logit = 0;
      for (int64_t d = 0; d < kWidth; ++d)
        logit += double(x[size_t(i * kWidth + d)]) * w[size_t(d * kWords)];
      largest = std::max(largest, logit);
    }
    EXPECT_NEAR(all[0], largest, 1e-6);
  });
}

/// Around vectors of either level, and where a row no longer fits registers.
static const int64_t kWidths[] = {1, 7, 16, 21, 257, 1000};

TEST_P(PoolTest, VectorsOfLengthOne) {
  std::string module;
  for (int64_t width : kWidths)
    module += fill(R"(
func.func @normalize_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]})
    -> (tensor<?xWIDTHxf32> {transformer.name = "y"}) {
  %y = transformer.normalize %x {epsilon = 1.0e-4 : f32}
    : (tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxf32>
  return %y : tensor<?xWIDTHxf32>
}
)",
                   {{"WIDTH", std::to_string(width)}});
  // Of sequences, as well.
  module += R"(
func.func @sequences(
    %x: tensor<?x?x21xf32> {transformer.name = "x",
                            transformer.dims = ["batch", "source"]})
    -> (tensor<?x?x21xf32> {transformer.name = "y"}) {
  %y = transformer.normalize %x {epsilon = 1.0e-4 : f32}
    : (tensor<?x?x21xf32>) -> tensor<?x?x21xf32>
  return %y : tensor<?x?x21xf32>
}
)";
  constexpr int64_t kRows = 9;
  withCode(module, {}, [&](const EntryRunner &code) {
    EntryCall sequences =
        prepare(code, "sequences", {{Dim::Batch, 3}, {Dim::Source, 3}});
    sequences.set("x", randomValues(kRows * 21, 4));
    sequences();
    EXPECT_TRUE(sequences.checkGuards().ok());
    EXPECT_EQ(sequences.get("y"),
              runRows(code, "normalize_21", 0, kRows,
                      {{"x", randomValues(kRows * 21, 4)}}));
    for (int64_t width : kWidths) {
      std::vector<float> x = randomValues(kRows * width, 2, 3);
      // Large values, values that are shorter than epsilon, and none.
      for (int64_t d = 0; d < width; ++d) {
        x[size_t(width + d)] *= 1e12f;
        x[size_t(2 * width + d)] *= 1e-7f;
        x[size_t(3 * width + d)] = 0;
      }
      x[size_t(5 * width - 1)] = kNaN;
      std::vector<double> expected;
      for (int64_t row = 0; row < kRows; ++row) {
        const float *values = &x[size_t(row * width)];
        double squares = 0;
        for (int64_t d = 0; d < width; ++d)
          squares += double(values[d]) * double(values[d]);
        // A NaN is the length of its row.
        double length = std::sqrt(squares);
        for (int64_t d = 0; d < width; ++d)
          expected.push_back(values[d] /
                             (length < kEpsilon ? kEpsilon : length));
      }
      expectNear(runInBatches(code, "normalize_" + std::to_string(width), kRows,
                              {{"x", x}}),
                 expected, 1e-6);
    }
  });
}
