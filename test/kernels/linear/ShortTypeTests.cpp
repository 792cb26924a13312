//===- ShortTypeTests.cpp - Tests that bf16 and f16 share -----------------===//
//
// Rounding, linears and logits of candidates in either type. Whole numbers have
// exact sums, which all levels share bit for bit. The instruction decides the
// order of other sums, which are compared with sums in double. A formula of the
// tests rounds to bf16, the compiler's own _Float16 rounds to f16.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/linear/CandidateCases.h"
#include "test/kernels/linear/ShortTypeTest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace heddle;
using namespace heddle::test;

INSTANTIATE_TEST_SUITE_P(, Bf16Test,
                         testing::ValuesIn(andHopper(everyCodeOfShortTypes())),
                         testing::PrintToStringParamName());
/// Every level widens f16, but GPUs multiply it.
INSTANTIATE_TEST_SUITE_P(, F16Test, testing::ValuesIn(andHopper(everyCode())),
                         testing::PrintToStringParamName());

//===----------------------------------------------------------------------===//
// The types
//===----------------------------------------------------------------------===//

static float valueOfBf16(uint16_t bits) {
  return floatOf(uint32_t(bits) << 16);
}

static uint16_t bitsOfF16(float x) {
  _Float16 half = x;
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

static float valueOfF16(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, sizeof half);
  return half;
}

/// Shapes: depths around pairs, what is unrolled and the 32 of a tile, columns
/// around panels; weights that no L2 cache holds.
const ShortType &test::bf16() {
  static const ShortType type = {"bf16",
                                 "rounded",
                                 roundedBits,
                                 valueOfBf16,
                                 /*hasOneNaN=*/true,
                                 std::numeric_limits<float>::infinity(),
                                 {{1, 1},
                                  {2, 8},
                                  {3, 33},
                                  {4, 32},
                                  {37, 100},
                                  {131, 64},
                                  {96, 40},
                                  {34, 33},
                                  {520, 1030}}};
  return type;
}

/// 65,520 is the smallest value that rounds to infinity. Shapes: depths around
/// pairs and what is unrolled, columns around panels.
const ShortType &test::f16() {
  static const ShortType type = {"f16",
                                 "rounded_to_f16",
                                 bitsOfF16,
                                 valueOfF16,
                                 /*hasOneNaN=*/false,
                                 65520,
                                 {{3, 33}, {37, 100}, {520, 130}}};
  return type;
}

bool ShortType::accepts(float value, uint16_t bits) const {
  return bits == bitsOf(value) ||
         (!hasOneNaN && std::isnan(value) && std::isnan(valueOf(bits)));
}

std::vector<float> ShortType::round(std::vector<float> values) const {
  for (float &value : values)
    value = valueOf(bitsOf(value));
  return values;
}

std::string ShortType::fillType(const std::string &text) const {
  return fill(text, {{"TYPE", name}, {"ROUNDED", rounded}});
}

void ShortTypeTest::expectRounded(const EntryRunner &code,
                                  const std::string &entry, int64_t rows,
                                  const Values &values,
                                  const std::vector<float> &expected) const {
  EntryCall call = prepare(code, entry, {{Dim::Rows, rows}});
  for (const auto &[name, argument] : values)
    call.set(name, argument);
  call();
  EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
  std::vector<uint16_t> y = call.get<uint16_t>("y");
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_TRUE(type.accepts(expected[i], y[i]))
        << entry << " at " << i << ": " << std::hexfloat << expected[i]
        << " became " << type.valueOf(y[i]) << ", bits " << std::hex << y[i];
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

void ShortTypeTest::expectRounding() {
  std::string module = type.fillType(R"(
func.func @round(%x: tensor<?x37xf32> {transformer.name = "x",
                                       transformer.dims = ["rows"]})
    -> (tensor<?x37xTYPE> {transformer.name = "y"}) {
  %y = transformer.round %x to TYPE : (tensor<?x37xf32>) -> tensor<?x37xTYPE>
  return %y : tensor<?x37xTYPE>
}
)");
  std::vector<float> x;
  // Around ties of even and odd numbers and below the next power of two, of
  // every exponent and what is none: zeros, denormals, the largest, infinities,
  // quiet and signalling NaNs. Ties lie at bit 15 in bf16 and at bit 12 in f16,
  // and in its denormals one bit higher for each exponent below the last normal
  // one.
  for (uint32_t sign : {0u, 0x80000000u})
    for (uint32_t exponent = 0; exponent <= 255; ++exponent)
      for (uint32_t tie = 12; tie <= 22; ++tie)
        for (uint32_t fraction : {0u, 1u << tie, 3u << tie, -1u << tie})
          for (uint32_t beside : {0u, 1u, 0x7fffffu})
            x.push_back(floatOf(sign | exponent << 23 |
                                ((fraction + beside) & 0x7fffff)));
  x.resize((x.size() + 36) / 37 * 37);
  withCode(module, {}, [&](const EntryRunner &code) {
    expectRounded(code, "round", x.size() / 37, {{"x", x}}, x);
  });
}

TEST_P(Bf16Test, RoundsToTheNearest) { expectRounding(); }
TEST_P(F16Test, RoundsToTheNearest) { expectRounding(); }

std::string test::linearEntry(const ShortType &type, const std::string &name,
                              int64_t depth, int64_t columns,
                              const std::string &epilogue) {
  bool hasResidual = epilogue.find("%r") != std::string::npos;
  bool rounds = epilogue.find("round") != std::string::npos;
  return type.fillType(
      fill(R"(
func.func @NAME_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]}RESIDUAL)
    -> (tensor<?xOUTxRESULT> {transformer.name = "y"}) {
  %w = transformer.weight @r_SHAPE : tensor<SHAPExTYPE>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %q = transformer.round %x to TYPE : (tensor<?xINxf32>) -> tensor<?xINxTYPE>
  %y = transformer.linear %q, %w, %b EPILOGUE
    : (tensor<?xINxTYPE>, tensor<SHAPExTYPE>, tensor<OUTxf32>OPERAND)
      -> tensor<?xOUTxRESULT>
  return %y : tensor<?xOUTxRESULT>
}
)",
           {{"NAME", name},
            {"SHAPE", shapeOf(depth, columns)},
            {"RESIDUAL", hasResidual ? R"(,
    %r: tensor<?xOUTxf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})"
                                     : ""},
            {"OPERAND", hasResidual ? ", tensor<?xOUTxf32>" : ""},
            {"EPILOGUE", epilogue},
            {"RESULT", rounds ? "TYPE" : "f32"},
            {"IN", std::to_string(depth)},
            {"OUT", std::to_string(columns)}}));
}

std::string test::linearText(const ShortType &type, int64_t depth,
                             int64_t columns, const std::string &epilogue) {
  return type.fillType(fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @r_SHAPE : tensor<SHAPExTYPE> ROUNDED of [@w_SHAPE]
)",
                            {{"SHAPE", shapeOf(depth, columns)},
                             {"OUT", std::to_string(columns)}})) +
         linearEntry(type, "linear", depth, columns, epilogue);
}

void ShortTypeTest::expectLinears(bool alsoRounded) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : type.shapes) {
    module += linearText(type, depth, columns);
    if (alsoRounded)
      module += linearEntry(type, "relu", depth, columns,
                            "activation(relu) round(TYPE)");
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : type.shapes) {
      std::string shape = shapeOf(depth, columns);
      SCOPED_TRACE(shape);
      std::vector<float> x = randomValues(kLinearRows * depth, 3);
      // Neighbours of ordinary rows, also behind the odd end of a row.
      x[5 * depth] = type.infinite;
      x[9 * depth] = std::numeric_limits<float>::quiet_NaN();
      std::vector<double> expected =
          multiply(type.round(x), type.round(weights["w_" + shape].values),
                   weights["b_" + shape].values);
      // Operands are rounded in the formula, too, products of them exact. A sum
      // of depth + 1 terms of at most 1 is at most depth + 1 and rounds as
      // often, each time by 2^-24 of itself.
      double tolerance = (depth + 1.0) * (depth + 1.0) * 0x1p-24;
      std::vector<float> y =
          runInBatches(code, "linear_" + shape, kLinearRows, {{"x", x}});
      expectNear(y, expected, tolerance);
      if (!alsoRounded)
        continue;
      for (float &each : y)
        each = each < 0 ? 0 : each;
      for (int64_t rows : {1, 3, 7, 16, 20, int(kLinearRows)})
        expectRounded(code, "relu_" + shape, rows,
                      {{"x", {x.begin(), x.begin() + rows * depth}}},
                      {y.begin(), y.begin() + rows * columns});
    }
  });
}

/// Rounded results of bf16 are tested by LinearsRoundWhatTheyWrite.
TEST_P(Bf16Test, Linears) { expectLinears(/*alsoRounded=*/false); }
TEST_P(F16Test, Linears) { expectLinears(/*alsoRounded=*/true); }

static const std::string kOperands = R"(
  %t = transformer.weight @r_WIDTH : tensor<40xWIDTHxTYPE>
  %b = transformer.weight @b : tensor<40xf32>
  %q = transformer.round %x to TYPE
    : (tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxTYPE>)";

/// Logits of rows that an embedding gathers from the table.
static const char *const kOfRows = R"(
  %r = transformer.embedding %ids, %t
    : (tensor<?x?xi32>, tensor<40xWIDTHxTYPE>) -> tensor<?x?xWIDTHxTYPE>
  %c = transformer.embedding %ids, %b
    : (tensor<?x?xi32>, tensor<40xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %q, %r, %c, %counts of %of
    : (tensor<?xWIDTHxTYPE>, tensor<?x?xWIDTHxTYPE>, tensor<?x?xf32>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>)";

/// Logits of rows that are read in the table.
static const char *const kOfTable = R"(
  %y = transformer.candidate_logits %q, %t, %b, %counts gather(%ids) of %of
    : (tensor<?xWIDTHxTYPE>, tensor<40xWIDTHxTYPE>, tensor<40xf32>,
       tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?xf32>)";

void ShortTypeTest::expectCandidateLogits() {
  constexpr int64_t vocabulary = kCandidateVocabulary;
  const int64_t widths[] = {1, 3, 21, 64, 96};
  std::string module = "transformer.parameter @b : tensor<40xf32>\n";
  Weights weights = {{"b", {{vocabulary}, wholeNumbers(vocabulary, 1, 200)}}};
  for (int64_t width : widths) {
    std::string name = std::to_string(width);
    module += fill(R"(
transformer.parameter @t_WIDTH : tensor<40xWIDTHxf32>
transformer.parameter @r_WIDTH : tensor<40xWIDTHxTYPE> ROUNDED of [@t_WIDTH]
)",
                   {{"WIDTH", name}});
    module += candidatesText("table", width, kOperands + kOfTable) +
              candidatesText("rows", width, kOperands + kOfRows);
    weights["t_" + name] = {{vocabulary, width},
                            wholeNumbers(vocabulary * width, 2, 200)};
  }
  withCode(type.fillType(module), weights, [&](const EntryRunner &code) {
    for (int64_t width : widths) {
      std::string name = std::to_string(width);
      std::vector<float> x = wholeNumbers(kCandidateRows * width, 3, 200);
      x[(kRowWithoutCandidates + 1) * width - 1] =
          std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> &table = weights["t_" + name].values;
      auto logit = [&](int64_t row, int64_t id) {
        double sum = weights["b"].values[id];
        for (int64_t d = 0; d < width; ++d)
          sum += double(x[row * width + d]) * table[id * width + d];
        return sum;
      };
      for (const char *form : {"table_", "rows_"}) {
        SCOPED_TRACE(form + name);
        expectCandidates(prepare(code, form + name, candidateDims()), x, logit);
      }
    }
  });
}

TEST_P(Bf16Test, CandidateLogits) { expectCandidateLogits(); }
TEST_P(F16Test, CandidateLogits) { expectCandidateLogits(); }
