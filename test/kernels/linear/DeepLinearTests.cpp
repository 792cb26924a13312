//===- DeepLinearTests.cpp - Weights that no L2 cache holds ---------------===//
//
// Linears whose panels the L2 cache does not hold beside others: vectors take
// them piece by piece. Whole numbers have exact sums in every type, which all
// levels share; those of other numbers are summed in one order, whatever the
// rows beside them.
//
//===----------------------------------------------------------------------===//

#include "test/kernels/linear/LinearCases.h"

#include <algorithm>

using namespace heddle::test;

namespace {
class DeepLinearTest : public LayerTest {};
} // namespace

/// The type is a flag's: the module is the same.
static std::vector<CodeChoice> everyCodeOfEveryType() {
  std::vector<CodeChoice> codes = everyCode();
  for (const char *type : {"bf16", "int8"})
    for (CodeChoice code : andHopper(everyCodeOfInt8())) {
      code.flags = std::string("--dtype ") + type;
      codes.push_back(code);
    }
  for (CodeChoice code : everyCode()) {
    code.flags = "--dtype int8w";
    codes.push_back(code);
  }
  for (CodeChoice code : everyCodeOfShortTypes()) {
    code.flags = "--dtype int8w --activation-dtype bf16";
    codes.push_back(code);
  }
  return codes;
}

INSTANTIATE_TEST_SUITE_P(, DeepLinearTest,
                         testing::ValuesIn(everyCodeOfEveryType()),
                         testing::PrintToStringParamName());

/// Several pieces in every type, in whole tiles, a panel and a cut one.
static constexpr int64_t kDepth = 8448, kColumns = 136;
/// Whole tiles of either level, and one row.
static constexpr int64_t kRows = 13;

static const char *const kModule = R"(
transformer.parameter @w : tensor<8448x136xf32>
transformer.parameter @b : tensor<136xf32>
func.func @linear(
    %x: tensor<?x8448xf32> {transformer.name = "x",
                            transformer.dims = ["rows"]},
    %r: tensor<?x136xf32> {transformer.name = "r",
                           transformer.dims = ["rows"]})
    -> (tensor<?x136xf32> {transformer.name = "y"}) {
  %w = transformer.weight @w : tensor<8448x136xf32>
  %b = transformer.weight @b : tensor<136xf32>
  %y = transformer.linear %x, %w, %b activation(relu) residual(%r)
    : (tensor<?x8448xf32>, tensor<8448x136xf32>, tensor<136xf32>,
       tensor<?x136xf32>) -> tensor<?x136xf32>
  return %y : tensor<?x136xf32>
}
)";

TEST_P(DeepLinearTest, SumsOfWholeNumbersAreExact) {
  std::vector<float> x = wholeNumbers(kRows * kDepth, 1, 100),
                     w = wholeNumbers(kDepth * kColumns, 2, 100),
                     b = wholeNumbers(kColumns, 3, 100),
                     r = wholeNumbers(kRows * kColumns, 4, 100);
  // Vectors whose largest element is 127 have a scale of 1, and so have 32
  // inputs of a column.
  for (int64_t row = 0; row < kRows; ++row)
    x[row * kDepth + row] = 127;
  for (int64_t column = 0; column < kColumns; ++column)
    for (int64_t k = column % 32; k < kDepth; k += 32)
      w[k * kColumns + column] = -127;
  std::vector<float> expected;
  for (double sum : multiply(x, w, b))
    expected.push_back(r[expected.size()] +
                       static_cast<float>(std::max(sum, 0.0)));
  Weights weights = {{"w", {{kDepth, kColumns}, w}}, {"b", {{kColumns}, b}}};
  withCode(kModule, weights, [&](const EntryRunner &code) {
    EXPECT_EQ(runRows(code, "linear", 0, kRows, {{"x", x}, {"r", r}}),
              expected);
  });
}

TEST_P(DeepLinearTest, RowsKeepTheirBitsInSmallBatches) {
  std::vector<float> x = randomValues(kRows * kDepth, 1),
                     r = randomValues(kRows * kColumns, 4);
  Weights weights = {
      {"w", {{kDepth, kColumns}, randomValues(kDepth * kColumns, 2)}},
      {"b", {{kColumns}, randomValues(kColumns, 3)}}};
  withCode(kModule, weights, [&](const EntryRunner &code) {
    auto run = [&](int64_t first, int64_t rows) {
      return runRows(code, "linear", first, rows, {{"x", x}, {"r", r}});
    };
    std::vector<float> all = run(0, kRows);
    for (int64_t rows : {1, 4})
      EXPECT_EQ(run(5, rows),
                std::vector<float>(all.begin() + 5 * kColumns,
                                   all.begin() + (5 + rows) * kColumns));
  });
}
