//===- WarpgroupLinearTests.cpp - Products by wgmma -----------------------===//
//
// Products of warpgroups, which only sm_90a has: tiles of rows and columns that
// are cut anywhere, blocks that do several tiles, and what ptxas makes of them.
// Other tests of bf16 and integers run there, too.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/ShortTypeTest.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {
class WarpgroupLinearTest : public LayerTest {
protected:
  /// Expects max(round(x) W + b, 0) + r of each row, and that a few rows by
  /// themselves, which have blocks of another shape, have the same bits.
  static void expectRows(const EntryRunner &code, int64_t depth,
                         int64_t columns, int64_t rows, const Weights &weights);
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, WarpgroupLinearTest,
                         testing::Values(CodeChoice{std::string("x86-64-v3") +
                                                        kEmulatedHopper,
                                                    /*reference=*/false, ""}),
                         testing::PrintToStringParamName());

static const char *const kEpilogue = "activation(relu) residual(%r)";

/// The linear of bf16.
static std::string linearText(int64_t depth, int64_t columns,
                              const std::string &epilogue = "") {
  return linearText(bf16(), depth, columns, epilogue);
}

void WarpgroupLinearTest::expectRows(const EntryRunner &code, int64_t depth,
                                     int64_t columns, int64_t rows,
                                     const Weights &weights) {
  std::string shape = shapeOf(depth, columns);
  SCOPED_TRACE(std::to_string(rows) + " rows of " + shape);
  std::vector<float> x = randomValues(rows * depth, 3),
                     r = randomValues(rows * columns, 4);
  Values values = {{"x", x}, {"r", r}};
  std::vector<float> y = runRows(code, "linear_" + shape, 0, rows, values);
  std::vector<double> expected =
      multiply(bf16().round(x), bf16().round(weights.at("w_" + shape).values),
               weights.at("b_" + shape).values);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::max(expected[i], 0.0) + r[i];
  // As in Bf16Test.Linears: depth + 2 additions of terms of at most 1.
  expectNear(y, expected, (depth + 2.0) * (depth + 2.0) * 0x1p-24);
  for (auto [first, count] :
       {std::pair<int64_t, int64_t>{0, std::min<int64_t>(rows, 64)},
        {rows - 1, 1},
        {rows - 20, 17}})
    EXPECT_EQ(runRows(code, "linear_" + shape, first, count, values),
              std::vector<float>(y.begin() + first * columns,
                                 y.begin() + (first + count) * columns));
}

// Words of depth around a step, a stage and the ring, rows of x that are no
// multiple of 16 bytes; columns around panels and tiles.

TEST_P(WarpgroupLinearTest, SmallTilesAreCutAnywhere) {
  const std::pair<int64_t, int64_t> shapes[] = {
      {2, 1}, {16, 32}, {50, 129}, {64, 256}, {66, 33}, {300, 68}, {584, 292}};
  std::string module;
  Weights weights;
  for (auto [depth, columns] : shapes) {
    module += linearText(depth, columns, kEpilogue);
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : shapes)
      for (int64_t rows : {20, 64, 65, 129, 200})
        expectRows(code, depth, columns, rows, weights);
  });
}

TEST_P(WarpgroupLinearTest, NothingIsReadBehindTheDepth) {
  // What stands for words that do not exist is no infinity, which zeros of x
  // would make no number.
  Weights weights = weightsOf(2, 40);
  std::fill_n(weights["w_2x40"].values.begin(), 40, INFINITY);
  withCode(linearText(2, 40), weights, [&](const EntryRunner &code) {
    EXPECT_EQ(runRows(code, "linear_2x40", 0, 70,
                      {{"x", std::vector<float>(140, 1.0f)}}),
              std::vector<float>(70 * 40, INFINITY));
  });
}

/// As many rows as blocks of large tiles do several of them each: less than two
/// for most of 132 blocks, and a ring that ends anywhere.
static int64_t manyRows(int64_t columns) {
  int64_t columnTiles = (columns + 255) / 256;
  return (150 + columnTiles - 1) / columnTiles * 128 - 27;
}

TEST_P(WarpgroupLinearTest, LargeTilesAreCutAnywhere) {
  const std::pair<int64_t, int64_t> shapes[] = {{8, 600}, {66, 33}, {150, 292}};
  std::string module;
  Weights weights;
  for (auto [depth, columns] : shapes) {
    module += linearText(depth, columns, kEpilogue);
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [depth, columns] : shapes)
      expectRows(code, depth, columns, manyRows(columns), weights);
  });
}

// Between small and large ones, 44 to 66 tiles of 128 x 256 would leave
// multiprocessors without work. Of more, two blocks take tiles one below the
// other, or side by side what is left of an odd number, or one of them alone.

TEST_P(WarpgroupLinearTest, MediumTilesAndPairsTakeOddOnes) {
  struct {
    int64_t columns, rows;
  } tiles[] = {{3 * 256 - 6, 17 * 128 - 27},
               {45 * 256 - 20, 100},
               {3 * 256 - 10, 23 * 128 - 27},
               {67 * 256 - 20, 100}};
  constexpr int64_t depth = 8;
  std::string module;
  Weights weights;
  for (auto [columns, rows] : tiles) {
    module += linearText(depth, columns, kEpilogue);
    weights.merge(weightsOf(depth, columns));
  }
  withCode(module, weights, [&](const EntryRunner &code) {
    for (auto [columns, rows] : tiles)
      expectRows(code, depth, columns, rows, weights);
  });
}

/// y = x W + b of integers.
static const char *const kIntegers = R"(
transformer.parameter @w : tensor<200x300xf32>
transformer.parameter @b : tensor<300xf32>
transformer.parameter @i : tensor<200x300xi8> column_integers of [@w]
transformer.parameter @s : tensor<300xf32> column_scales of [@w]
transformer.parameter @m : tensor<1xf32>
func.func @integers(
    %x: tensor<?x200xf32> {transformer.name = "x",
                           transformer.dims = ["rows"]})
    -> (tensor<?x300xf32> {transformer.name = "y"}) {
  %i = transformer.weight @i : tensor<200x300xi8>
  %s = transformer.weight @s : tensor<300xf32>
  %b = transformer.weight @b : tensor<300xf32>
  %m = transformer.weight @m : tensor<1xf32>
  %q = transformer.quantize %x multiplier(%m)
    : (tensor<?x200xf32>, tensor<1xf32>) -> tensor<?x200xi8>
  %y = transformer.linear %q shift 127, %i scales(%s), %b
    : (tensor<?x200xi8>, tensor<200x300xi8>, tensor<300xf32>, tensor<300xf32>)
      -> tensor<?x300xf32>
  return %y : tensor<?x300xf32>
}
)";

TEST_P(WarpgroupLinearTest, SumsOfIntegersAreExact) {
  constexpr int64_t depth = 200, columns = 300;
  int64_t rows = manyRows(columns);
  std::vector<float> x = wholeNumbers(rows * depth, 1, 127),
                     w = wholeNumbers(depth * columns, 2, 127),
                     b = wholeNumbers(columns, 3, 127);
  // Columns whose largest element is 127 have a scale of 1.
  std::fill_n(w.begin(), columns, 127.0f);
  std::vector<float> expected(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      int64_t sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum +=
            (int64_t(x[row * depth + k]) + 127) * int64_t(w[k * columns + c]);
      expected[row * columns + c] = float(sum) + b[c];
    }
  Weights weights = {{"w", {{depth, columns}, w}},
                     {"b", {{columns}, b}},
                     {"m", {{1}, {1.0f}}}};
  withCode(kIntegers, weights, [&](const EntryRunner &code) {
    for (int64_t count : {int64_t(16), int64_t(200), rows})
      EXPECT_EQ(runRows(code, "integers", 0, count, {{"x", x}}),
                std::vector<float>(expected.begin(),
                                   expected.begin() + count * columns));
  });
}

TEST(WarpgroupPtxTest, Assembles) {
  if (!EntryRunner::canAssemble())
    GTEST_SKIP() << "there is no ptxas: see test/README.md";
  std::string module = kIntegers;
  module += linearText(512, 512);
  module += linearText(74, 33, "activation(gelu)");
  module += linearText(512, 2048, "activation(relu) residual(%r) round");
  Weights weights = {{"w", {{200, 300}, randomValues(200 * 300, 1)}},
                     {"b", {{300}, randomValues(300, 2)}},
                     {"m", {{1}, {1.0f}}}};
  for (auto [depth, columns] :
       {std::pair<int64_t, int64_t>{512, 512}, {74, 33}, {512, 2048}})
    weights.merge(weightsOf(depth, columns));
  Status status = EntryRunner::assemble(module, weights, "sm_90a", "sm_90a");
  EXPECT_TRUE(status.ok()) << status.message();
}
