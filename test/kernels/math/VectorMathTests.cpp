//===- VectorMathTests.cpp - Elementary functions against libm ------------===//
//
// Each function becomes a loop over an array, is compiled for an ISA level as
// kernels are, and runs over floats of the whole range. libm in double is the
// truth; every number of lanes has to give the same bits, and every level does
// but for exp2.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/Target.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "test/kernels/EntryRunner.h"
#include "test/kernels/math/VectorCode.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace heddle;
using namespace mlir;

namespace {
using Emit = std::function<Value(const VectorMath &, Value)>;

/// y[i] = f(x[i]) in machine code.
class CompiledFunction {
public:
  CompiledFunction(const Emit &emit, Type (*element)(OpBuilder &),
                   const IsaLevel &isa, int64_t lanes);

  template <typename Number>
  std::vector<Number> operator()(const std::vector<Number> &x) const {
    std::vector<Number> y(x.size());
    code(test::memRefOf(x.data(), x.size()),
         test::memRefOf(y.data(), y.size()));
    return y;
  }

private:
  test::VectorCode code;
};
} // namespace

static Type f32(OpBuilder &builder) { return builder.getF32Type(); }
static Type f64(OpBuilder &builder) { return builder.getF64Type(); }

/// to[i] = f(from[i]), `lanes` at a time.
static void buildMap(const Emit &emit, const IsaLevel &isa, int64_t lanes,
                     OpBuilder &builder, Value from, Value to) {
  Location loc = builder.getUnknownLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Type element = cast<MemRefType>(from.getType()).getElementType();
  Value size = memref::DimOp::create(builder, loc, from, 0);
  scf::ForOp::create(
      builder, loc, index(0), size, index(lanes), ValueRange(),
      [&](OpBuilder &, Location, Value i, ValueRange) {
        VectorMath math(builder, loc, isa);
        if (lanes == 1) {
          Value x = memref::LoadOp::create(builder, loc, from, i);
          memref::StoreOp::create(builder, loc, emit(math, x), to, i);
        } else {
          Type vector = VectorType::get(lanes, element);
          Value x = vector::LoadOp::create(builder, loc, vector, from, i);
          vector::StoreOp::create(builder, loc, emit(math, x), to, i);
        }
        scf::YieldOp::create(builder, loc);
      });
}

CompiledFunction::CompiledFunction(const Emit &emit,
                                   Type (*element)(OpBuilder &),
                                   const IsaLevel &isa, int64_t lanes)
    : code(
          isa,
          [&](OpBuilder &builder) {
            Type array =
                MemRefType::get(ShapedType::kDynamic, element(builder));
            return SmallVector<Type>(2, array);
          },
          [&](OpBuilder &builder, ValueRange arrays) {
            buildMap(emit, isa, lanes, builder, arrays[0], arrays[1]);
          }) {}

namespace {
/// Each test runs for every level and is skipped where the machine lacks it.
class VectorMathTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!test::machineHas(GetParam()))
      GTEST_SKIP() << "this machine does not run " << GetParam();
  }

  static IsaLevel lowest() { return llvm::cantFail(getIsaLevel("x86-64-v3")); }
  static IsaLevel level() { return llvm::cantFail(getIsaLevel(GetParam())); }
  /// The level's vectors of any width.
  static std::vector<std::pair<IsaLevel, int64_t>> variants() {
    std::vector<std::pair<IsaLevel, int64_t>> result;
    for (int64_t lanes = level().lanes; lanes > 0; lanes /= 2)
      result.push_back({level(), lanes});
    return result;
  }
  static void expectWithin(double ulp, const Emit &emit,
                           double (*truth)(double), bool levelsAgree = true);
};
} // namespace

INSTANTIATE_TEST_SUITE_P(, VectorMathTest,
                         testing::Values("x86-64-v3", "x86-64-v4"),
                         [](const auto &info) {
                           return std::string(info.param).substr(7);
                         });

/// A sample of all floats, with every special one, in whole vectors.
static std::vector<float> floats() {
  std::vector<float> result = {
      0.0f,
      -0.0f,
      std::numeric_limits<float>::infinity(),
      -std::numeric_limits<float>::infinity(),
      std::numeric_limits<float>::quiet_NaN(),
      std::numeric_limits<float>::max(),
      std::numeric_limits<float>::lowest(),
      std::numeric_limits<float>::min(),
      std::numeric_limits<float>::denorm_min(),
      128.0f,
      std::nextafter(128.0f, 0.0f),
      -126.0f,
      88.7228394f,
      88.7228317f,
      -87.3365479f,
  };
  auto append = [&](uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    result.push_back(value);
  };
  // A NaN with other bits than the default one, and a prime step.
  append(0x7fc00123);
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 1021)
    append(bits);
  // Arguments of the size that matters, closer.
  for (int i = -(1 << 20); i < (1 << 20); ++i)
    result.push_back(i * 0x1p-13f);
  while (result.size() % 16 != 0)
    result.push_back(0.0f);
  return result;
}

/// |y - truth| in units of the last place of the truth.
static double errorInUlp(float y, double truth) {
  if (std::isnan(truth) || std::isnan(y))
    return std::isnan(truth) && std::isnan(y)
               ? 0
               : std::numeric_limits<double>::infinity();
  constexpr double largest = std::numeric_limits<float>::max();
  // What rounds to infinity: infinity counts as the number behind the largest.
  if (truth > largest)
    truth = 0x1p128;
  double result = std::isinf(y) ? std::copysign(0x1p128, y) : y;
  if (std::abs(truth) < 0x1p-126 && std::abs(result) <= 0x1p-126)
    return 0;
  int exponent = std::max(std::ilogb(truth), -126);
  return std::abs(result - truth) / std::ldexp(1.0, exponent - 23);
}

/// All variants against `truth` and among each other; the lowest level, too,
/// where levels agree.
void VectorMathTest::expectWithin(double ulp, const Emit &emit,
                                  double (*truth)(double), bool levelsAgree) {
  std::vector<float> x = floats(), first;
  std::vector<double> y;
  for (float value : x)
    y.push_back(truth(std::abs(value) < 0x1p-126f ? 0 * value : value));
  std::vector<std::pair<IsaLevel, int64_t>> compared = variants();
  if (levelsAgree && level().name != lowest().name)
    compared.push_back({lowest(), lowest().lanes});
  for (auto [isa, lanes] : compared) {
    SCOPED_TRACE(isa.name.str() + ", " + std::to_string(lanes) + " lanes");
    std::vector<float> found = CompiledFunction(emit, f32, isa, lanes)(x);
    if (first.empty()) {
      first = found;
      double worst = 0;
      size_t where = 0;
      for (size_t i = 0; i < x.size(); ++i)
        if (double error = errorInUlp(found[i], y[i]); !(error <= worst)) {
          worst = error;
          where = i;
        }
      EXPECT_LE(worst, ulp) << "at " << x[where] << ": " << found[where]
                            << ", expected " << y[where];
      ::testing::Test::RecordProperty("worst", std::to_string(worst));
    }
    for (size_t i = 0; i < x.size(); ++i)
      if (!std::isnan(y[i]))
        ASSERT_EQ(std::memcmp(&found[i], &first[i], sizeof(float)), 0)
            << "at " << x[i] << ": " << found[i] << ", before " << first[i];
      else
        ASSERT_TRUE(std::isnan(found[i])) << "at " << x[i];
  }
}

TEST_P(VectorMathTest, Exp2) {
  expectWithin(
      3, [](const VectorMath &math, Value x) { return math.exp2(x); },
      std::exp2, /*levelsAgree=*/false);
}

TEST_P(VectorMathTest, Exp) {
  expectWithin(
      2, [](const VectorMath &math, Value x) { return math.exp(x); }, std::exp);
}

TEST_P(VectorMathTest, Sigmoid) {
  expectWithin(
      3, [](const VectorMath &math, Value x) { return math.sigmoid(x); },
      [](double x) { return 1 / (1 + std::exp(-x)); });
}

TEST_P(VectorMathTest, Tanh) {
  expectWithin(
      3, [](const VectorMath &math, Value x) { return math.tanh(x); },
      std::tanh);
}

TEST_P(VectorMathTest, Erf) {
  expectWithin(
      3, [](const VectorMath &math, Value x) { return math.erf(x); }, std::erf);
}

TEST_P(VectorMathTest, ZeroAndOneAreExact) {
  std::vector<float> zeros(16, 0.0f);
  for (auto [isa, lanes] : variants())
    for (const Emit &emit :
         {Emit([](auto &math, Value x) { return math.exp2(x); }),
          Emit([](auto &math, Value x) { return math.exp(x); })})
      EXPECT_EQ(CompiledFunction(emit, f32, isa, lanes)(zeros)[0], 1.0f);
}

TEST_P(VectorMathTest, SineAndCosine) {
  std::vector<double> x = {0.0, 0x1p20};
  for (double value = 0; value < 10; value += 0x1p-12)
    x.push_back(value);
  // Multiples of a quarter turn, where results are smallest.
  for (double value = 0; value < 0x1p20; value += M_PI_2)
    x.push_back(value);
  for (double value = 0; value < 0x1p20; value += 1.75)
    x.push_back(value);
  for (size_t i = x.size(); i-- > 0;)
    x.push_back(-x[i]);
  x.resize(x.size() / 16 * 16);
  for (auto [isa, lanes] : variants()) {
    if (lanes * 2 > isa.lanes && lanes > 1)
      lanes = isa.lanes / 2;
    SCOPED_TRACE(isa.name.str() + ", " + std::to_string(lanes) + " lanes");
    auto sines = CompiledFunction(
        [](auto &math, Value x) { return math.sinCos(x).first; }, f64, isa,
        lanes)(x);
    auto cosines = CompiledFunction(
        [](auto &math, Value x) { return math.sinCos(x).second; }, f64, isa,
        lanes)(x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(sines[i], std::sin(x[i]), 0x1p-36) << "at " << x[i];
      ASSERT_NEAR(cosines[i], std::cos(x[i]), 0x1p-36) << "at " << x[i];
    }
  }
}
