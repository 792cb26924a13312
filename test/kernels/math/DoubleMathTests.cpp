//===- DoubleMathTests.cpp - Elementary functions of f64 against libm -----===//
//
// Each function becomes a loop over pairs of numbers, is compiled for the
// lowest level and runs over f64 of every size. libm in long double is the
// truth: where f64 has denormals or an end, it is rounded to that.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Machine/Target.h"
#include "lib/Kernels/Math/DoubleMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "test/kernels/math/VectorCode.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace heddle;
using namespace mlir;

using Numbers = std::vector<double>;
using Truth = long double (*)(long double, long double);

static constexpr double kInf = std::numeric_limits<double>::infinity();

/// z[i] = f(x[i], y[i]) in machine code.
static Numbers run(const std::function<Double(Double, Double)> &f,
                   const Numbers &x, const Numbers &y) {
  test::VectorCode code(
      llvm::cantFail(getIsaLevel("x86-64-v3")),
      [](OpBuilder &builder) {
        return SmallVector<Type>(
            3, MemRefType::get(ShapedType::kDynamic, builder.getF64Type()));
      },
      [&](OpBuilder &builder, ValueRange arrays) {
        Location loc = builder.getUnknownLoc();
        Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        Value size = memref::DimOp::create(builder, loc, arrays[0], 0);
        auto build = [&](OpBuilder &inner, Location, Value i, ValueRange) {
          auto load = [&](Value array) -> Double {
            return {inner, loc,
                    memref::LoadOp::create(inner, loc, array, i).getResult()};
          };
          Double z = f(load(arrays[0]), load(arrays[1]));
          memref::StoreOp::create(inner, loc, z.value, arrays[2], i);
          scf::YieldOp::create(inner, loc);
        };
        scf::ForOp::create(builder, loc, zero, size, one, ValueRange(), build);
      });
  Numbers z(x.size());
  code(test::memRefOf(x.data(), x.size()), test::memRefOf(y.data(), y.size()),
       test::memRefOf(z.data(), z.size()));
  return z;
}

/// What is special, f64 of any bits, floats, and numbers near 0 and 1.
static Numbers numbers() {
  Numbers all = {0.0,    0.25,      0.5,         1.0,    1.5,         2.0,  3.0,
                 1e-300, 0x1p-1022, 1e20,        0x1p53, 709.7,       kInf, 7e4,
                 0x1p20, 1e30,      M_SQRT2 - 1, M_PI,   std::nan("")};
  std::mt19937_64 engine(1);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = engine() >> 1;
    double any;
    std::memcpy(&any, &bits, sizeof any);
    // Kernels take denormals for zeros.
    if (any >= 0x1p-1022)
      all.push_back(any);
    double part = (engine() >> 11) * 0x1p-53;
    all.insert(all.end(), {part, 1 + part, 30 * part, 800 * part, 2e6 * part,
                           1e-8 * part, float(any)});
  }
  for (int i = 0; i < 20000; ++i)
    all.push_back(i * M_PI_2);
  for (size_t i = all.size(); i-- > 0;)
    all.push_back(-all[i]);
  return all;
}

/// Whether `found` is what C says at an end, or within so many ulp.
static bool isNear(double found, long double truth, double ulp) {
  double rounded = static_cast<double>(truth);
  if (std::isnan(rounded) || rounded == 0)
    return std::isnan(rounded) ? std::isnan(found)
                               : std::abs(found) <= 0x1p-1022;
  if (std::signbit(found) != std::signbit(rounded))
    return false;
  if (std::isinf(rounded) || std::isinf(found))
    return found == rounded || std::abs(truth) > 0x1.fffffffffffp1023L;
  if (std::abs(rounded) < 0x1p-1021)
    return std::abs(found) < 0x1p-1020;
  return std::abs(found - truth) <=
         ulp * std::ldexp(1.0L, std::ilogb(rounded) - 52);
}

static void expectNear(const std::function<Double(Double, Double)> &f,
                       Truth truth, double ulp, const Numbers &x,
                       const Numbers &y) {
  Numbers z = run(f, x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    long double expected = truth(x[i], y[i]);
    ASSERT_TRUE(isNear(z[i], expected, ulp))
        << "of " << x[i] << " and " << y[i] << ": " << z[i] << ", expected "
        << static_cast<double>(expected);
  }
}

namespace {
/// And within how many ulp it is right.
struct Function {
  const char *name;
  Double (*emit)(Double);
  long double (*truth)(long double);
  double ulp;
};
void PrintTo(const Function &function, std::ostream *stream) {
  *stream << function.name;
}
class DoubleMathTest : public testing::TestWithParam<Function> {};
} // namespace

INSTANTIATE_TEST_SUITE_P(
    , DoubleMathTest,
    testing::Values(Function{"exp", doubles::exp, expl, 2},
                    Function{"exp2", doubles::exp2, exp2l, 2},
                    Function{"expm1", doubles::expm1, expm1l, 2},
                    Function{"log", doubles::log, logl, 3},
                    Function{"log1p", doubles::log1p, log1pl, 3},
                    Function{"log2", doubles::log2, log2l, 3},
                    Function{"log10", doubles::log10, log10l, 3},
                    Function{"cbrt", doubles::cbrt, cbrtl, 2},
                    Function{"sinh", doubles::sinh, sinhl, 4},
                    Function{"cosh", doubles::cosh, coshl, 4},
                    Function{"tanh", doubles::tanh, tanhl, 4},
                    Function{"asinh", doubles::asinh, asinhl, 4},
                    Function{"acosh", doubles::acosh, acoshl, 4},
                    Function{"atanh", doubles::atanh, atanhl, 4},
                    Function{"erf", doubles::erf, erfl, 4},
                    Function{"erfc", doubles::erfc, erfcl, 7},
                    Function{"sin", doubles::sin, sinl, 3},
                    Function{"cos", doubles::cos, cosl, 3},
                    Function{"tan", doubles::tan, tanl, 4},
                    Function{"atan", doubles::atan, atanl, 4},
                    Function{"asin", doubles::asin, asinl, 4},
                    Function{"acos", doubles::acos, acosl, 4}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(DoubleMathTest, OfEverySize) {
  Numbers x = numbers();
  expectNear([](Double x, Double) { return GetParam().emit(x); },
             [](long double x, long double) { return GetParam().truth(x); },
             GetParam().ulp, x, x);
}

/// Each with many others, and with some of its own size.
static std::pair<Numbers, Numbers> pairs() {
  Numbers all = numbers(), x, y;
  std::mt19937_64 engine(2);
  auto add = [&](double a, double b) {
    x.push_back(a);
    y.push_back(b);
  };
  for (size_t i = 0; i < 19; ++i)
    for (size_t j = 0; j < 19; ++j)
      for (double sign : {1.0, -1.0}) {
        add(sign * all[i], all[j]);
        add(sign * all[i], -all[j]);
      }
  for (double a : all) {
    add(a, all[engine() % all.size()]);
    add(a, a * (engine() % 16 + 1));
  }
  return {x, y};
}

TEST(DoubleMathOfTwoTest, Atan2) {
  auto [y, x] = pairs();
  expectNear(doubles::atan2, atan2l, 4, y, x);
}

TEST(DoubleMathOfTwoTest, RemaindersAreExact) {
  auto [x, y] = pairs();
  expectNear(doubles::fmod, fmodl, 0, x, y);
}

TEST(DoubleMathOfTwoTest, Powers) {
  auto [x, y] = pairs();
  // Of powers that are in range, too.
  std::mt19937_64 engine(3);
  auto part = [&] { return (engine() >> 11) * 0x1p-53; };
  for (int i = 0; i < 50000; ++i) {
    x.push_back(std::exp2(40 * part() - 20));
    y.push_back((2 * part() - 1) * 1020 / std::abs(std::log2(x.back())));
    x.push_back(-double(engine() % 50));
    y.push_back(double(engine() % 100) - 50);
  }
  expectNear(doubles::pow, powl, /*ulp=*/512, x, y);
}
