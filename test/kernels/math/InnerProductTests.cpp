//===- InnerProductTests.cpp - Sums of products of short elements ---------===//
//
// Every way to multiply bytes, at every number of lanes, against sums in 64
// bits: they are exact. So are those of bf16 that are small whole numbers.
// Panels come from the packing of artifacts; behind the depth of x stand bytes
// that must not matter, and the zeros that bf16 want.
//
//===----------------------------------------------------------------------===//

#include "dialect/linear/PanelLayout.h"
#include "lib/Artifact/Panels.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "test/kernels/EntryRunner.h"
#include "test/kernels/math/VectorCode.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace heddle;
using namespace heddle::test;
using namespace mlir;

static constexpr int64_t kColumns = 45, kRows = 3;

namespace {
/// What elements of type Number stand for: int8_t for i8, uint16_t for bf16.
template <typename Number> struct ElementOf;
template <> struct ElementOf<int8_t> {
  using Sum = int32_t;
  static constexpr int8_t kBehind = 77;
  static Type type(OpBuilder &builder) { return builder.getI8Type(); }
  static int64_t value(int8_t number) { return number; }
};
template <> struct ElementOf<uint16_t> {
  using Sum = float;
  static constexpr uint16_t kBehind = 0;
  static Type type(OpBuilder &builder) { return builder.getBF16Type(); }
  static int64_t value(uint16_t bits) {
    return int64_t(llvm::bit_cast<float>(uint32_t(bits) << 16));
  }
};
} // namespace

/// y [rows, 32 * panels] = x W, of x [rows, a whole number of groups].
template <typename Number>
static VectorCode multiplyCode(const IsaLevel &isa, int64_t lanes,
                               int64_t depth) {
  auto layoutOf = [](Type element) {
    return PanelLayout(weightFormatOf(element, /*isScaled=*/false), kColumns);
  };
  return VectorCode(
      isa,
      [&](OpBuilder &builder) {
        Type element = ElementOf<Number>::type(builder);
        Type sum = element.isBF16() ? Type(builder.getF32Type())
                                    : builder.getI32Type();
        PanelLayout layout = layoutOf(element);
        int64_t width = llvm::alignTo(depth, layout.group());
        return SmallVector<Type>{
            MemRefType::get({kRows, width}, element),
            MemRefType::get(layout.shape(depth), element),
            MemRefType::get({kRows, layout.panels() * kPanelColumns}, sum)};
      },
      [&](OpBuilder &builder, ValueRange memrefs) {
        VectorLoops loops(builder, builder.getUnknownLoc(), isa);
        MultiplyAdd product(loops, ElementOf<Number>::type(builder));
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
                          Value k = loops.mul(number, product.group());
                          Value w = product.loadWeights(panels, panel, number,
                                                        column, lanes);
                          Value factor =
                              product.broadcast(x, append(row, k), lanes);
                          return SmallVector<Value>{
                              product.multiplyAdd(factor, w, sums.front())};
                        })
                    .front();
            Value at = loops.add(loops.mul(panel, kPanelColumns), column);
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
  template <typename Number>
  void expectExact(int64_t depth, const std::vector<Number> &x,
                   const std::vector<Number> &w) {
    for (int64_t lanes = isa.lanes; lanes >= 4; lanes /= 2)
      expectExact(depth, x, w, lanes);
  }

  IsaLevel isa;

private:
  template <typename Number>
  void expectExact(int64_t depth, const std::vector<Number> &x,
                   const std::vector<Number> &w, int64_t lanes);
};
} // namespace

template <typename Number>
void InnerProductTest::expectExact(int64_t depth, const std::vector<Number> &x,
                                   const std::vector<Number> &w,
                                   int64_t lanes) {
  using Element = ElementOf<Number>;
  using Sum = typename Element::Sum;
  const WeightFormat format =
      sizeof(Number) == 1 ? WeightFormat::Integers : WeightFormat::ShortFloats;
  const PanelLayout layout(format, kColumns);
  int64_t width = llvm::alignTo(depth, layout.group());
  std::vector<Number> rows(kRows * width, Element::kBehind);
  std::vector<char> panels;
  for (int64_t row = 0; row < kRows; ++row)
    std::copy_n(&x[row * depth], depth, &rows[row * width]);
  for (int64_t first = 0; first < kColumns; first += kPanelColumns) {
    llvm::SmallVector<char, 0> panel =
        packPanel<Number>({w, depth, kColumns}, format, first,
                          std::min(kPanelColumns, kColumns - first));
    panels.insert(panels.end(), panel.begin(), panel.end());
  }
  int64_t columns = layout.panels() * kPanelColumns;
  std::vector<Sum> y(kRows * columns, Sum(-1));
  multiplyCode<Number>(isa, lanes, depth)(
      memRefOf(rows.data(), kRows, width),
      memRefOf(panels.data(), layout.panels(), layout.rows(depth),
               kPanelColumns, layout.group()),
      memRefOf(y.data(), kRows, columns));
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t sum = 0;
      for (int64_t k = 0; column < kColumns && k < depth; ++k)
        sum += Element::value(x[row * depth + k]) *
               Element::value(w[k * kColumns + column]);
      ASSERT_EQ(y[row * columns + column], Sum(sum))
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

/// The same as bf16.
static std::vector<uint16_t> randomBf16(int64_t count, unsigned seed) {
  std::vector<uint16_t> values;
  for (int8_t number : randomBytes(count, seed, -128, 127))
    values.push_back(llvm::bit_cast<uint32_t>(float(number)) >> 16);
  return values;
}

TEST_P(InnerProductTest, WholeNumbersOfBf16) {
  // 600 products of at most 2^14 stay below 2^24.
  for (int64_t depth : {1, 2, 3, 4, 5, 37, 64, 600})
    expectExact(depth, randomBf16(kRows * depth, 1),
                randomBf16(depth * kColumns, 2));
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
                         testing::Values("x86-64-v3", "avx-vnni", "x86-64-v4",
                                         "avx512-vnni", "avx512-bf16"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
