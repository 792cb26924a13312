//===- QuantizedTests.cpp - Products of integers --------------------------===//
//
// Linears, tables and logits of i8, bit for bit on every ISA level: sums of
// integers are exact, and the order of the operations that follow is part of
// the type.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/linear/CandidateCases.h"
#include "test/kernels/linear/IntegerFormulas.h"
#include "test/kernels/linear/LinearCases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
/// Inputs and outputs of a linear.
using Shape = std::pair<int64_t, int64_t>;

class QuantizedTest : public LayerTest {
protected:
  /// Of vectors with a scale each, rotated or as they are.
  void expectProducts(const std::vector<Shape> &shapes, bool areRotated);
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, QuantizedTest,
                         testing::ValuesIn(andHopper(everyCodeOfInt8())),
                         testing::PrintToStringParamName());

/// All sizes of tiles, whole and below.
static constexpr int64_t kRows = 75;

/// Depths around groups of four, what is unrolled and the 64 bytes of a tile,
/// and one that tiles take from both ends; columns around panels.
static const Shape kShapes[] = {{1, 1},    {3, 33},   {4, 32},  {6, 8},
                                {37, 100}, {130, 64}, {68, 33}, {1028, 65}};

/// y = x W + b of vectors with a scale each, rotated or not, named after the
/// shape.
static std::string scaledLinear(int64_t depth, int64_t columns,
                                bool isRotated = false) {
  std::string shape = shapeOf(depth, columns);
  return fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @r_SHAPE : tensor<SHAPExf32> rotated of [@w_SHAPE]
transformer.parameter @i_SHAPE : tensor<SHAPExi8> column_integers of [@OF_SHAPE]
transformer.parameter @s_SHAPE : tensor<OUTxf32> column_scales of [@OF_SHAPE]
func.func @linear_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %i = transformer.weight @i_SHAPE : tensor<SHAPExi8>
  %s = transformer.weight @s_SHAPE : tensor<OUTxf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %q, %t = transformer.quantize %xROTATED
    : (tensor<?xINxf32>) -> (tensor<?xINxi8>, tensor<?xf32>)
  %y = transformer.linear %q scales(%t), %i scales(%s), %b
    : (tensor<?xINxi8>, tensor<?xf32>, tensor<SHAPExi8>, tensor<OUTxf32>,
       tensor<OUTxf32>) -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
              {{"SHAPE", shape},
               {"IN", std::to_string(depth)},
               {"OUT", std::to_string(columns)},
               {"ROTATED", isRotated ? " rotated" : ""},
               {"OF", isRotated ? "r" : "w"}});
}

void QuantizedTest::expectProducts(const std::vector<Shape> &shapes,
                                   bool areRotated) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : shapes) {
    module += scaledLinear(depth, columns, areRotated);
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : shapes) {
      std::string shape = shapeOf(depth, columns);
      std::vector<float> x = randomValues(kRows * depth, 3),
                         w = weights["w_" + shape].values;
      // Neighbours of ordinary rows: zeros, an infinity, what is no number, and
      // one value that leaves all others at zero.
      std::fill_n(x.begin() + 2 * depth, depth, 0.0f);
      x[5 * depth] = std::numeric_limits<float>::infinity();
      x[9 * depth] = std::numeric_limits<float>::quiet_NaN();
      x[12 * depth] = 1e30f;
      Integers q = quantizeRows(areRotated ? rotateRows(x, depth) : x, depth);
      Integers v =
          quantizeColumns(areRotated ? rotateColumns(w, columns) : w, columns);
      expectSame(runInBatches(code, "linear_" + shape, kRows, {{"x", x}}),
                 multiply(q.values, q.scales, /*shift=*/0, v,
                          weights["b_" + shape].values));
    }
  });
}

TEST_P(QuantizedTest, LinearWithScalesOfVectors) {
  expectProducts({std::begin(kShapes), std::end(kShapes)},
                 /*areRotated=*/false);
}

TEST_P(QuantizedTest, LinearOfRotatedVectors) {
  // Blocks of 1, of less than a vector of any level, and of all sizes above.
  expectProducts({{3, 33},
                  {6, 8},
                  {20, 5},
                  {72, 9},
                  {48, 33},
                  {32, 4},
                  {192, 40},
                  {384, 7}},
                 /*areRotated=*/true);
}

TEST_P(QuantizedTest, ManyWideRows) {
  // Sums of all rows together would not fit on a stack.
  constexpr int64_t rows = 600, depth = 4, columns = 4096;
  Weights weights = weightsOf(depth, columns);
  withCode(scaledLinear(depth, columns), weights, [&](const EntryRunner &code) {
    std::vector<float> x = randomValues(rows * depth, 3);
    Integers q = quantizeRows(x, depth);
    Integers w = quantizeColumns(weights["w_4x4096"].values, columns);
    expectSame(runRows(code, "linear_4x4096", 0, rows, {{"x", x}}),
               multiply(q.values, q.scales, /*shift=*/0, w,
                        weights["b_4x4096"].values));
  });
}

TEST_P(QuantizedTest, LinearsWithMultipliers) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes) {
    std::string shape = shapeOf(depth, columns);
    module += fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @v_SHAPE : tensor<OUTx24xf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @c_SHAPE : tensor<24xf32>
transformer.parameter @m_SHAPE : tensor<1xf32>
transformer.parameter @n_SHAPE : tensor<1xf32>
transformer.parameter @wi_SHAPE : tensor<SHAPExi8> column_integers of [@w_SHAPE]
transformer.parameter @ws_SHAPE : tensor<OUTxf32> column_scales of [@w_SHAPE]
transformer.parameter @vi_SHAPE : tensor<OUTx24xi8> column_integers of [@v_SHAPE]
transformer.parameter @vs_SHAPE : tensor<24xf32> column_scales of [@v_SHAPE]
func.func @linears_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?x24xf32> {transformer.name = "y"}) {
  %wi = transformer.weight @wi_SHAPE : tensor<SHAPExi8>
  %ws = transformer.weight @ws_SHAPE : tensor<OUTxf32>
  %vi = transformer.weight @vi_SHAPE : tensor<OUTx24xi8>
  %vs = transformer.weight @vs_SHAPE : tensor<24xf32>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %c = transformer.weight @c_SHAPE : tensor<24xf32>
  %m = transformer.weight @m_SHAPE : tensor<1xf32>
  %n = transformer.weight @n_SHAPE : tensor<1xf32>
  %q = transformer.quantize %x multiplier(%m)
    : (tensor<?xINxf32>, tensor<1xf32>) -> tensor<?xINxi8>
  %h = transformer.linear %q shift 127, %wi scales(%ws), %b activation(relu)
         quantize(%n)
    : (tensor<?xINxi8>, tensor<SHAPExi8>, tensor<OUTxf32>, tensor<OUTxf32>,
       tensor<1xf32>) -> tensor<?xOUTxi8>
  %y = transformer.linear %h, %vi scales(%vs), %c
    : (tensor<?xOUTxi8>, tensor<OUTx24xi8>, tensor<24xf32>, tensor<24xf32>)
      -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}
)",
                   {{"SHAPE", shape},
                    {"IN", std::to_string(depth)},
                    {"OUT", std::to_string(columns)}});
    weights["w_" + shape] = {{depth, columns},
                             randomValues(depth * columns, 1)};
    weights["v_" + shape] = {{columns, 24}, randomValues(columns * 24, 2)};
    weights["b_" + shape] = {{columns}, randomValues(columns, 3)};
    weights["c_" + shape] = {{24}, randomValues(24, 4)};
    weights["m_" + shape] = {{1}, {150.0f}};
    weights["n_" + shape] = {{1}, {0.37f}};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes) {
      std::string shape = shapeOf(depth, columns);
      // Some values are clipped.
      std::vector<float> x = randomValues(kRows * depth, 5);
      std::vector<float> h =
          multiply(quantizeAll(x, 150.0f), {}, /*shift=*/127,
                   quantizeColumns(weights["w_" + shape].values, columns),
                   weights["b_" + shape].values);
      for (float &each : h)
        each = std::max(each, 0.0f);
      expectSame(runInBatches(code, "linears_" + shape, kRows, {{"x", x}}),
                 multiply(quantizeAll(h, 0.37f), {}, /*shift=*/0,
                          quantizeColumns(weights["v_" + shape].values, 24),
                          weights["c_" + shape].values));
    }
  });
}

TEST_P(QuantizedTest, Tables) {
  const char *module = R"(
transformer.parameter @t : tensor<9x21xf32>
transformer.parameter @m : tensor<1xf32>
transformer.parameter @i : tensor<9x21xi8> row_integers of [@t]
transformer.parameter @s : tensor<9xf32> row_scales of [@t]
func.func @times(%ids: tensor<?xi32> {transformer.name = "ids",
                                      transformer.dims = ["rows"]})
    -> (tensor<?x21xf32> {transformer.name = "y"}) {
  %i = transformer.weight @i : tensor<9x21xi8>
  %s = transformer.weight @s : tensor<9xf32>
  %y = transformer.embedding %ids, %i scales(%s) {scale = 3.0 : f32}
    : (tensor<?xi32>, tensor<9x21xi8>, tensor<9xf32>) -> tensor<?x21xf32>
  return %y : tensor<?x21xf32>
}
func.func @over(%ids: tensor<?xi32> {transformer.name = "ids",
                                     transformer.dims = ["rows"]})
    -> (tensor<?x21xf32> {transformer.name = "y"}) {
  %i = transformer.weight @i : tensor<9x21xi8>
  %m = transformer.weight @m : tensor<1xf32>
  %y = transformer.embedding %ids, %i scales(%m) divides
    : (tensor<?xi32>, tensor<9x21xi8>, tensor<1xf32>) -> tensor<?x21xf32>
  return %y : tensor<?x21xf32>
}
)";
  Weights weights = {{"t", {{9, 21}, randomValues(9 * 21, 1)}},
                     {"m", {{1}, {7.3f}}}};
  Integers table = quantizeRows(weights["t"].values, 21);
  std::vector<int32_t> ids = {0, 8, -1, 3, 3, 1, 7};
  std::vector<float> times, over;
  for (int32_t id : ids)
    for (int64_t d = 0; d < 21; ++d) {
      float entry = id < 0 ? 0 : table.values[id * 21 + d];
      times.push_back(id < 0 ? 0 : entry * table.scales[id] * 3.0f);
      over.push_back(entry / 7.3f);
    }
  withCode(module, weights, [&](const EntryRunner &code) {
    int64_t rows = ids.size();
    expectSame(runInBatches(code, "times", rows, {}, {{"ids", ids}}), times);
    expectSame(runInBatches(code, "over", rows, {}, {{"ids", ids}}), over);
  });
}

/// What vectors are worth in fewer bits, where the switch is on.
TEST_P(QuantizedTest, FakeVectors) {
  // Blocks of four, and the end of a vector.
  constexpr int64_t kWidth = 44;
  std::string module = R"(
transformer.parameter @m : tensor<1xf32>
transformer.parameter @on : tensor<1xf32>
transformer.parameter @off : tensor<1xf32>
)";
  Weights weights = {
      {"m", {{1}, {6.3f}}}, {"on", {{1}, {1}}}, {"off", {{1}, {0}}}};
  auto add = [&](const char *name, const char *how, const char *isOn) {
    bool hasMultiplier = std::strstr(how, "multiplier");
    module += fill(R"(
func.func @NAME(
    %x: tensor<?x44xf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?x44xf32> {transformer.name = "y"}) {
  %m = transformer.weight @m : tensor<1xf32>
  %on = transformer.weight @ISON : tensor<1xf32>
  %y = transformer.fake_quantize %x as HOW when(%on)
    : (tensor<?x44xf32>, MULTIPLIERtensor<1xf32>) -> tensor<?x44xf32>
  return %y : tensor<?x44xf32>
}
)",
                   {{"NAME", name},
                    {"HOW", how},
                    {"ISON", isOn},
                    {"MULTIPLIER", hasMultiplier ? "tensor<1xf32>, " : ""}});
  };
  add("scaled", "i8", "on");
  add("multiplied", "i8 multiplier(%m)", "on");
  add("as_bf16", "bf16", "on");
  add("as_f16", "f16", "on");
  add("scaled_off", "i8", "off");
  add("as_bf16_off", "bf16", "off");

  std::vector<float> x = randomValues(kRows * kWidth, 5);
  std::fill_n(x.begin(), kWidth, 0.0f);
  // Above the largest integer, an infinity, and what is no number.
  x[kWidth] = 1e3f;
  x[2 * kWidth] = std::numeric_limits<float>::infinity();
  x[3 * kWidth] = std::numeric_limits<float>::quiet_NaN();
  Integers rows = quantizeRows(x, kWidth);
  std::vector<int8_t> all = quantizeAll(x, 6.3f);
  std::vector<float> scaled, multiplied, bf16, f16;
  for (size_t i = 0; i < x.size(); ++i) {
    scaled.push_back(rows.values[i] * rows.scales[i / kWidth]);
    multiplied.push_back(all[i] / 6.3f);
    bf16.push_back(rounded(x[i]));
    f16.push_back(static_cast<_Float16>(x[i]));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    auto run = [&](const char *name) {
      return runInBatches(code, name, kRows, {{"x", x}});
    };
    expectSame(run("scaled"), scaled);
    expectSame(run("multiplied"), multiplied);
    expectSame(run("as_bf16"), bf16);
    expectSame(run("as_f16"), f16);
    expectSame(run("scaled_off"), x);
    expectSame(run("as_bf16_off"), x);
  });
}

static const std::string kTable = R"(
  %i = transformer.weight @i_WIDTH : tensor<40xWIDTHxi8>
  %s = transformer.weight @s_WIDTH : tensor<40xf32>
  %b = transformer.weight @b : tensor<40xf32>)";

/// Logits of vectors with one multiplier for all, and with a scale each.
static const char *const kShiftedLogits = R"(
  %m = transformer.weight @m : tensor<1xf32>
  %q = transformer.quantize %x multiplier(%m)
    : (tensor<?xWIDTHxf32>, tensor<1xf32>) -> tensor<?xWIDTHxi8>
  %y = transformer.candidate_logits %q shift 127, %i scales(%s), %b, %counts
         gather(%ids) of %of
    : (tensor<?xWIDTHxi8>, tensor<40xWIDTHxi8>, tensor<40xf32>, tensor<40xf32>,
       tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?xf32>)";
static const char *const kScaledLogits = R"(
  %q, %t = transformer.quantize %x
    : (tensor<?xWIDTHxf32>) -> (tensor<?xWIDTHxi8>, tensor<?xf32>)
  %y = transformer.candidate_logits %q scales(%t), %i scales(%s), %b, %counts
         gather(%ids) of %of
    : (tensor<?xWIDTHxi8>, tensor<?xf32>, tensor<40xWIDTHxi8>, tensor<40xf32>,
       tensor<40xf32>, tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>)
      -> tensor<?x?xf32>)";

TEST_P(QuantizedTest, CandidateLogits) {
  constexpr int64_t vocabulary = kCandidateVocabulary;
  const int64_t widths[] = {3, 21, 64, 96};
  std::string module = R"(
transformer.parameter @b : tensor<40xf32>
transformer.parameter @m : tensor<1xf32>
)";
  Weights weights = {{"b", {{vocabulary}, randomValues(vocabulary, 1)}},
                     {"m", {{1}, {130.0f}}}};
  for (int64_t width : widths) {
    std::string name = std::to_string(width);
    module += fill(R"(
transformer.parameter @t_WIDTH : tensor<40xWIDTHxf32>
transformer.parameter @i_WIDTH : tensor<40xWIDTHxi8> row_integers of [@t_WIDTH]
transformer.parameter @s_WIDTH : tensor<40xf32> row_scales of [@t_WIDTH]
)",
                   {{"WIDTH", name}});
    module += candidatesText("shifted", width, kTable + kShiftedLogits) +
              candidatesText("scaled", width, kTable + kScaledLogits);
    weights["t_" + name] = {{vocabulary, width},
                            randomValues(vocabulary * width, 2)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (int64_t width : widths)
      for (bool isShifted : {false, true}) {
        std::string name = std::to_string(width);
        std::vector<float> x = randomValues(kCandidateRows * width, 3);
        Integers q = quantizeRows(x, width);
        if (isShifted)
          q = {quantizeAll(x, 130.0f), {}};
        Integers table = quantizeRows(weights["t_" + name].values, width);
        std::string entry = (isShifted ? "shifted_" : "scaled_") + name;
        SCOPED_TRACE(entry);
        expectCandidates(prepare(code, entry, candidateDims()), x,
                         [&](int64_t row, int64_t id) {
                           auto of = table.values.begin() + id * width;
                           Integers column = {{of, of + width},
                                              {table.scales[id]}};
                           auto vector = q.values.begin() + row * width;
                           std::vector<float> scale;
                           if (!isShifted)
                             scale = {q.scales[row]};
                           return multiply({vector, vector + width}, scale,
                                           isShifted ? 127 : 0, column,
                                           {weights["b"].values[id]})
                               .front();
                         });
      }
  });
}
