//===- InnerProductTests.cpp - Sums of products of bytes ------------------===//
//
// Every way to multiply bytes, at every number of lanes, against sums in 64
// bits: they are exact. Panels come from the packing of artifacts; behind the
// depth of x stands what must not matter.
//
//===----------------------------------------------------------------------===//

#include "dialect/PanelLayout.h"
#include "lib/Artifact/Panels.h"
#include "lib/Kernels/InnerProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "test/kernels/EntryRunner.h"
#include "test/kernels/VectorCode.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace heddle;
using namespace heddle::test;
using namespace mlir;

static constexpr int64_t kColumns = 45, kRows = 3;

/// y [rows, 32 * panels] = x W, of x [rows, a whole number of groups].
static VectorCode multiplyCode(const IsaLevel &isa, int64_t lanes,
                               int64_t depth) {
  auto layoutOf = [](Type element) { return PanelLayout(element, kColumns); };
  return VectorCode(
      isa,
      [&](OpBuilder &builder) {
        Type i8 = builder.getI8Type();
        int64_t width = llvm::alignTo(depth, layoutOf(i8).group());
        return SmallVector<Type>{
            MemRefType::get({kRows, width}, i8),
            MemRefType::get(layoutOf(i8).shape(depth), i8),
            MemRefType::get({kRows, layoutOf(i8).panels() * kPanelColumns},
                            builder.getI32Type())};
      },
      [&](OpBuilder &builder, ValueRange memrefs) {
        VectorLoops loops(builder, builder.getUnknownLoc(), isa);
        InnerProduct product(loops, builder.getI8Type());
        Value x = memrefs[0], y = memrefs[2];
        Value panels = product.flatten(memrefs[1]);
        Type group = product.operandType(1);
        loops.nest(x, 1, [&](ValueRange row) {
          loops.each(
              loops.index(0), loops.lastSize(x), product.group(), [&](Value k) {
                Value bytes = vector::LoadOp::create(builder, loops.loc, group,
                                                     x, append(row, k));
                loops.storeVector(product.encode(bytes), x, append(row, k));
              });
          auto columns = [&](Value panel, Value column) {
            Value first = product.start(panels, panel, column, lanes);
            Value sums =
                loops
                    .carry(
                        loops.index(0),
                        loops.index(llvm::divideCeil(depth, product.group())),
                        1, first,
                        [&](Value number, ValueRange sums) {
                          Value k = loops.times(number, product.group());
                          Value w = product.loadWeights(panels, panel, number,
                                                        column, lanes);
                          Value factor =
                              product.broadcast(x, append(row, k), lanes);
                          return SmallVector<Value>{
                              product.multiplyAdd(factor, w, sums.front())};
                        })
                    .front();
            Value at = loops.plus(loops.times(panel, kPanelColumns), column);
            loops.storeVector(sums, y, append(row, at));
          };
          loops.loop(loops.size(panels, 0), [&](Value panel) {
            loops.each(loops.index(0), loops.index(kPanelColumns), lanes,
                       [&](Value column) { columns(panel, column); });
          });
        });
      });
}

namespace {
/// Levels by name.
class InnerProductTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    isa = llvm::cantFail(getIsaLevel(GetParam()));
    if (!machineHas(GetParam()))
      GTEST_SKIP() << "this machine does not run " << GetParam();
  }

  /// Expects exact sums of these values, by vectors of any length.
  void expectExact(int64_t depth, const std::vector<int8_t> &x,
                   const std::vector<int8_t> &w) {
    for (int64_t lanes = isa.lanes; lanes >= 4; lanes /= 2)
      expectExact(depth, x, w, lanes);
  }

  IsaLevel isa;

private:
  void expectExact(int64_t depth, const std::vector<int8_t> &x,
                   const std::vector<int8_t> &w, int64_t lanes);
};
} // namespace

void InnerProductTest::expectExact(int64_t depth, const std::vector<int8_t> &x,
                                   const std::vector<int8_t> &w,
                                   int64_t lanes) {
  const PanelLayout layout(1, kColumns);
  int64_t width = llvm::alignTo(depth, layout.group());
  std::vector<int8_t> rows(kRows * width, 77), panels;
  for (int64_t row = 0; row < kRows; ++row)
    std::copy_n(&x[row * depth], depth, &rows[row * width]);
  for (int64_t first = 0; first < kColumns; first += kPanelColumns) {
    llvm::SmallVector<char, 0> panel = packPanel<int8_t>(
        {w, depth, kColumns}, first, std::min(kPanelColumns, kColumns - first));
    panels.insert(panels.end(), panel.begin(), panel.end());
  }
  int64_t columns = layout.panels() * kPanelColumns;
  std::vector<int32_t> y(kRows * columns, -1);
  multiplyCode(isa, lanes, depth)(memRefOf(rows.data(), kRows, width),
                                  memRefOf(panels.data(), layout.panels(),
                                           layout.rows(depth), kPanelColumns,
                                           layout.group()),
                                  memRefOf(y.data(), kRows, columns));
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t sum = 0;
      for (int64_t k = 0; column < kColumns && k < depth; ++k)
        sum += int64_t(x[row * depth + k]) * w[k * kColumns + column];
      ASSERT_EQ(y[row * columns + column], sum)
          << "depth " << depth << ", " << lanes << " lanes, row " << row
          << ", column " << column;
    }
}

/// Numbers in [least, most].
static std::vector<int8_t> randomBytes(int64_t count, unsigned seed, int least,
                                       int most) {
  std::mt19937 generator(seed);
  std::vector<int8_t> values(count);
  for (int8_t &value : values)
    value = int8_t(least + int(generator() % unsigned(most - least + 1)));
  return values;
}

TEST_P(InnerProductTest, RandomBytesOfAnyDepth) {
  for (int64_t depth : {1, 2, 3, 4, 5, 37, 64, 1601})
    expectExact(depth, randomBytes(kRows * depth, 1, -127, 127),
                randomBytes(depth * kColumns, 2, -128, 127));
}

TEST_P(InnerProductTest, ExtremesInEveryCombination) {
  const int8_t extremes[] = {-128, -127, -1, 0, 1, 127};
  int64_t depth = 36;
  std::vector<int8_t> x, w;
  for (int64_t i = 0; i < kRows * depth; ++i)
    x.push_back(extremes[1 + i * 7 / 3 % 5]);
  for (int64_t i = 0; i < depth * kColumns; ++i)
    w.push_back(extremes[i * 5 / 4 % 6]);
  expectExact(depth, x, w);
}

TEST_P(InnerProductTest, ProductsOfOneSignAndTheLargestSize) {
  // Pairs of these fill the 16 bits that they pass through.
  int64_t depth = 2000;
  for (auto [first, second] : {std::pair{127, -128}, std::pair{-127, -128},
                               std::pair{127, 127}, std::pair{-127, 127}})
    expectExact(depth, std::vector<int8_t>(kRows * depth, int8_t(first)),
                std::vector<int8_t>(depth * kColumns, int8_t(second)));
}

INSTANTIATE_TEST_SUITE_P(, InnerProductTest,
                         testing::Values("x86-64-v3", "x86-64-v4",
                                         "avx512-bf16"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(name.rfind('-') + 1);
                         });
