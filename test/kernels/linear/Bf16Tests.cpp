// Products of bf16 on every ISA level. Whole numbers have exact sums, which all
// levels share bit for bit; of other numbers the order of a dot is the
// instruction's, and they are compared with sums in double.

#include "test/kernels/Bf16Numbers.h"
#include "test/kernels/LayerTest.h"

#include <cmath>
#include <limits>

using namespace heddle;
using namespace heddle::test;

namespace {
class Bf16Test : public LayerTest {};
} // namespace

INSTANTIATE_TEST_SUITE_P(, Bf16Test,
                         testing::ValuesIn(andHopper(everyCodeOfShortTypes())),
                         testing::PrintToStringParamName());

//===----------------------------------------------------------------------===//
// The formulas
//===----------------------------------------------------------------------===//

/// x W + b in double, of x [rows, depth].
static std::vector<double> multiply(const std::vector<float> &x,
                                    const std::vector<float> &w,
                                    const std::vector<float> &b) {
  int64_t columns = b.size(), depth = w.size() / columns;
  std::vector<double> y;
  for (size_t row = 0; row < x.size() / depth; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      double sum = b[c];
      for (int64_t k = 0; k < depth; ++k)
        sum += double(x[row * depth + k]) * w[k * columns + c];
      y.push_back(sum);
    }
  return y;
}

/// Whole numbers in [-most, most]: bf16 as they are up to 256.
static std::vector<float> wholeNumbers(int64_t count, unsigned seed,
                                       float most) {
  std::vector<float> values = randomValues(count, seed, most);
  for (float &value : values)
    value = std::nearbyint(value);
  return values;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// All sizes of tiles, whole and below.
static constexpr int64_t kRows = 75;

/// Depths around pairs, what is unrolled and the 32 of a tile, columns around
/// panels; weights that no L2 cache holds.
static const std::pair<int64_t, int64_t> kShapes[] = {
    {1, 1},    {2, 8},   {3, 33},  {4, 32},    {37, 100},
    {131, 64}, {96, 40}, {34, 33}, {520, 1030}};

static std::string shapeOf(int64_t depth, int64_t columns) {
  return std::to_string(depth) + "x" + std::to_string(columns);
}

TEST_P(Bf16Test, RoundsToTheNearest) {
  const char *module = R"(
func.func @round(%x: tensor<?x37xf32> {transformer.name = "x",
                                       transformer.dims = ["rows"]})
    -> (tensor<?x37xbf16> {transformer.name = "y"}) {
  %y = transformer.round %x : (tensor<?x37xf32>) -> tensor<?x37xbf16>
  return %y : tensor<?x37xbf16>
}
)";
  std::vector<float> x;
  // Around ties of even and odd numbers, of every exponent and what is none:
  // zeros, denormals, the largest, infinities, quiet and signalling NaNs.
  for (uint32_t sign : {0u, 0x80000000u})
    for (uint32_t exponent = 0; exponent <= 255; ++exponent)
      for (uint32_t fraction : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0x17fffu,
                                0x18000u, 0x7f7fffu, 0x7f8000u, 0x7fffffu})
        x.push_back(floatOf(sign | exponent << 23 | fraction));
  x.resize((x.size() + 36) / 37 * 37);
  int64_t rows = x.size() / 37;
  withCode(module, {}, [&](const EntryRunner &code) {
    EntryCall call = prepare(code, "round", {{Dim::Rows, rows}});
    call.set("x", x);
    call();
    std::vector<uint16_t> y = call.get<uint16_t>("y");
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], roundedBits(x[i])) << std::hex << bitsOf(x[i]);
  });
}

/// y = round(x) W + b, named after the shape.
static std::string linearText(const std::string &shape, int64_t depth,
                              int64_t columns) {
  return fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @r_SHAPE : tensor<SHAPExbf16> rounded of [@w_SHAPE]
func.func @linear_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]})
    -> (tensor<?xOUTxf32> {transformer.name = "y"}) {
  %w = transformer.weight @r_SHAPE : tensor<SHAPExbf16>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %r = transformer.round %x : (tensor<?xINxf32>) -> tensor<?xINxbf16>
  %y = transformer.linear %r, %w, %b
    : (tensor<?xINxbf16>, tensor<SHAPExbf16>, tensor<OUTxf32>)
      -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
)",
              {{"SHAPE", shape},
               {"IN", std::to_string(depth)},
               {"OUT", std::to_string(columns)}});
}

TEST_P(Bf16Test, Linears) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes) {
    std::string shape = shapeOf(depth, columns);
    module += linearText(shape, depth, columns);
    weights["w_" + shape] = {{depth, columns},
                             randomValues(depth * columns, 1)};
    weights["b_" + shape] = {{columns}, randomValues(columns, 2)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes) {
      std::string shape = shapeOf(depth, columns);
      std::vector<float> x = randomValues(kRows * depth, 3);
      // Neighbours of ordinary rows, also behind the odd end of a row.
      x[5 * depth] = std::numeric_limits<float>::infinity();
      x[9 * depth] = std::numeric_limits<float>::quiet_NaN();
      std::vector<double> expected =
          multiply(rounded(x), rounded(weights["w_" + shape].values),
                   weights["b_" + shape].values);
      // Operands are rounded in the formula, too, products of them exact. A sum
      // of depth + 1 terms of at most 1 is at most depth + 1 and rounds as
      // often, each time by 2^-24 of itself.
      double tolerance = (depth + 1.0) * (depth + 1.0) * 0x1p-24;
      expectNear(runInBatches(code, "linear_" + shape, kRows, {{"x", x}}),
                 expected, tolerance);
    }
  });
}

TEST_P(Bf16Test, SumsOfWholeNumbersAreExact) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes) {
    std::string shape = shapeOf(depth, columns);
    module += linearText(shape, depth, columns);
    weights["w_" + shape] = {{depth, columns},
                             wholeNumbers(depth * columns, 1, 200)};
    weights["b_" + shape] = {{columns}, wholeNumbers(columns, 2, 200)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes) {
      std::string shape = shapeOf(depth, columns);
      // 131 products of at most 200 * 200 stay below 2^24, and 520 of random
      // ones do, too.
      std::vector<float> x = wholeNumbers(kRows * depth, 3, 200);
      expectNear(runInBatches(code, "linear_" + shape, kRows, {{"x", x}}),
                 multiply(x, weights["w_" + shape].values,
                          weights["b_" + shape].values),
                 /*tolerance=*/0);
    }
  });
}

TEST_P(Bf16Test, LinearsRoundWhatTheyWrite) {
  std::string module;
  Weights weights;
  for (auto [depth, columns] : kShapes) {
    std::string shape = shapeOf(depth, columns);
    module += fill(R"(
transformer.parameter @w_SHAPE : tensor<SHAPExf32>
transformer.parameter @b_SHAPE : tensor<OUTxf32>
transformer.parameter @r_SHAPE : tensor<SHAPExbf16> rounded of [@w_SHAPE]
func.func @linear_SHAPE(
    %x: tensor<?xINxf32> {transformer.name = "x",
                          transformer.dims = ["rows"]},
    %s: tensor<?xOUTxf32> {transformer.name = "s",
                           transformer.dims = ["rows"]})
    -> (tensor<?xOUTxbf16> {transformer.name = "y"}) {
  %w = transformer.weight @r_SHAPE : tensor<SHAPExbf16>
  %b = transformer.weight @b_SHAPE : tensor<OUTxf32>
  %r = transformer.round %x : (tensor<?xINxf32>) -> tensor<?xINxbf16>
  %y = transformer.linear %r, %w, %b activation(relu) residual(%s) round
    : (tensor<?xINxbf16>, tensor<SHAPExbf16>, tensor<OUTxf32>,
       tensor<?xOUTxf32>) -> tensor<?xOUTxbf16>
  return %y : tensor<?xOUTxbf16>
}
)",
                   {{"SHAPE", shape},
                    {"IN", std::to_string(depth)},
                    {"OUT", std::to_string(columns)}});
    weights["w_" + shape] = {{depth, columns},
                             wholeNumbers(depth * columns, 1, 20)};
    weights["b_" + shape] = {{columns}, wholeNumbers(columns, 2, 200)};
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : kShapes)
      for (int64_t rows : {1, 3, 8, 29, 48}) {
        std::string shape = shapeOf(depth, columns);
        std::vector<float> x = wholeNumbers(rows * depth, 3, 20);
        std::vector<float> residual = wholeNumbers(rows * columns, 4, 2000);
        std::vector<double> sums = multiply(x, weights["w_" + shape].values,
                                            weights["b_" + shape].values);
        EntryCall call = prepare(code, "linear_" + shape, {{Dim::Rows, rows}});
        call.set("x", x);
        call.set("s", residual);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        std::vector<uint16_t> y = call.get<uint16_t>("y");
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_EQ(y[i],
                    roundedBits(residual[i] + std::max(float(sums[i]), 0.0f)))
              << shape << " at " << i;
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
    EXPECT_TRUE(std::isnan(floatOf(uint32_t(y[2 * 2]) << 16)));
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]))
        continue;
      double gelu = x[i] / 2.0 * (1 + std::erf(x[i] / std::sqrt(2.0)));
      // A rounding to bf16, and 2^-17 of |x| before it.
      double tolerance = std::abs(gelu) * 0x1p-8 + std::abs(x[i]) * 0x1p-17;
      for (int64_t column : {0, 1})
        EXPECT_NEAR(floatOf(uint32_t(y[2 * i + column]) << 16), gelu, tolerance)
            << x[i];
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
  std::vector<float> x = wholeNumbers(kRows * 37, 3, 100);
  withCode(module, weights, [&](const EntryRunner &code) {
    expectNear(runInBatches(code, "linear", kRows, {{"x", x}}),
               multiply(x, weights["w"].values, std::vector<float>(7)),
               /*tolerance=*/0);
    EntryCall call = prepare(code, "rounded", {{Dim::Rows, kRows}});
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

/// Logits of the candidates of a table, of rows that are gathered before, or
/// that are read where they stand.
static std::string candidatesText(int64_t width, bool isGathered) {
  std::string text = fill(R"(
func.func @NAME_WIDTH(
    %x: tensor<?xWIDTHxf32> {transformer.name = "x",
                             transformer.dims = ["rows"]},
    %ids: tensor<?x?xi32> {transformer.name = "candidates",
                           transformer.dims = ["batch", "shortlist"]},
    %counts: tensor<?xi32> {transformer.name = "counts",
                            transformer.dims = ["batch"]},
    %of: tensor<?xi32> {transformer.name = "sentences",
                        transformer.dims = ["rows"]})
    -> (tensor<?x?xf32> {transformer.name = "y"}) {
  %t = transformer.weight @r_WIDTH : tensor<40xWIDTHxbf16>
  %b = transformer.weight @b : tensor<40xf32>
  %q = transformer.round %x : (tensor<?xWIDTHxf32>) -> tensor<?xWIDTHxbf16>
  LOGITS
  return %y : tensor<?x?xf32>
}
)",
                          {{"NAME", isGathered ? "rows" : "table"},
                           {"LOGITS", isGathered ? R"(
  %r = transformer.embedding %ids, %t
    : (tensor<?x?xi32>, tensor<40xWIDTHxbf16>) -> tensor<?x?xWIDTHxbf16>
  %c = transformer.embedding %ids, %b
    : (tensor<?x?xi32>, tensor<40xf32>) -> tensor<?x?xf32>
  %y = transformer.candidate_logits %q, %r, %c, %counts of %of
    : (tensor<?xWIDTHxbf16>, tensor<?x?xWIDTHxbf16>, tensor<?x?xf32>,
       tensor<?xi32>, tensor<?xi32>) -> tensor<?x?xf32>)"
                                                 : R"(
  %y = transformer.candidate_logits %q, %t, %b, %counts gather(%ids) of %of
    : (tensor<?xWIDTHxbf16>, tensor<40xWIDTHxbf16>, tensor<40xf32>,
       tensor<?xi32>, tensor<?x?xi32>, tensor<?xi32>) -> tensor<?x?xf32>)"}});
  return fill(text, {{"WIDTH", std::to_string(width)}});
}

TEST_P(Bf16Test, CandidateLogits) {
  constexpr int64_t vocabulary = 40, most = 11, batch = 3;
  const int64_t widths[] = {1, 3, 21, 64, 96};
  std::string module = "transformer.parameter @b : tensor<40xf32>\n";
  Weights weights = {{"b", {{vocabulary}, wholeNumbers(vocabulary, 1, 200)}}};
  for (int64_t width : widths) {
    std::string name = std::to_string(width);
    module += fill(R"(
transformer.parameter @t_WIDTH : tensor<40xWIDTHxf32>
transformer.parameter @r_WIDTH : tensor<40xWIDTHxbf16> rounded of [@t_WIDTH]
)",
                   {{"WIDTH", name}});
    module += candidatesText(width, /*isGathered=*/false) +
              candidatesText(width, /*isGathered=*/true);
    weights["t_" + name] = {{vocabulary, width},
                            wholeNumbers(vocabulary * width, 2, 200)};
  }
  std::vector<int32_t> counts = {0, 6, 11}, sentences = {2, 0, 1, 2, 2};
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < batch * most; ++i)
    ids.push_back(i * 7 % vocabulary);
  withCode(module, weights, [&](const EntryRunner &code) {
    for (int64_t width : widths) {
      std::vector<float> x = wholeNumbers(sentences.size() * width, 3, 200);
      // The row of the sentence without candidates, before that of another.
      x[2 * width - 1] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> &table =
          weights["t_" + std::to_string(width)].values;
      std::vector<double> expected;
      for (size_t row = 0; row < sentences.size(); ++row)
        for (int64_t c = 0; c < most; ++c) {
          int32_t id = ids[sentences[row] * most + c];
          double sum = weights["b"].values[id];
          for (int64_t d = 0; d < width; ++d)
            sum += double(x[row * width + d]) * table[id * width + d];
          expected.push_back(c < counts[sentences[row]]
                                 ? sum
                                 : -std::numeric_limits<double>::infinity());
        }
      for (const char *form : {"table_", "rows_"}) {
        EntryCall call = prepare(code, form + std::to_string(width),
                                 {{Dim::Rows, int64_t(sentences.size())},
                                  {Dim::Batch, batch},
                                  {Dim::Shortlist, most}});
        call.set("x", x);
        call.set("candidates", ids);
        call.set("counts", counts);
        call.set("sentences", sentences);
        call();
        EXPECT_TRUE(call.checkGuards().ok()) << call.checkGuards().message();
        expectNear(call.get("y"), expected, /*tolerance=*/0);
      }
    }
  });
}
