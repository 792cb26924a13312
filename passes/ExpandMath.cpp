//===- ExpandMath.cpp - Functions that a GPU has no instruction for -------===//
//
// Of f32 they are MLIR's polynomials. Of f64, which only angles of sinusoidal
// positions are, they stand here: after an exact reduction of the argument, the
// Taylor series as far as f64 can tell.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;

namespace {
/// Arithmetic on doubles.
class Doubles {
public:
  Doubles(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(double value) {
    return arith::ConstantFloatOp::create(builder, loc, builder.getF64Type(),
                                          APFloat(value));
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value multiplyAdd(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  /// The integer next to x, still a double.
  Value nearest(Value x) { return math::RoundEvenOp::create(builder, loc, x); }
  /// x - n * step, of a step in parts, the largest one first, which n times has
  /// no rounding.
  Value reduce(Value x, Value n, ArrayRef<double> step);
  /// sum_i series[i] x^i.
  Value polynomial(Value x, ArrayRef<double> series);

  OpBuilder &builder;
  Location loc;
};
} // namespace

Value Doubles::reduce(Value x, Value n, ArrayRef<double> step) {
  for (double part : step)
    x = multiplyAdd(n, constant(-part), x);
  return x;
}

Value Doubles::polynomial(Value x, ArrayRef<double> series) {
  Value sum = constant(series.back());
  for (double factor : llvm::reverse(series.drop_back()))
    sum = multiplyAdd(sum, x, constant(factor));
  return sum;
}

/// 1/i! for i = first, first + 2, ..., with signs by turns; or all of them.
static SmallVector<double> inverseFactorials(int count, int first, int step) {
  SmallVector<double> series;
  double factorial = 1;
  for (int i = 1, sign = 1; int(series.size()) < count; ++i) {
    if (i > 1)
      factorial *= i - 1;
    int power = i - 1;
    if (power < first || (power - first) % step != 0)
      continue;
    series.push_back(sign / factorial);
    if (step == 2)
      sign = -sign;
  }
  return series;
}

/// 2^n of an integer n in [-1022, 1023], put together from its bits.
static Value powerOfTwo(Doubles &doubles, Value n) {
  OpBuilder &builder = doubles.builder;
  Type i64 = builder.getI64Type();
  auto integer = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, doubles.loc, i64, value);
  };
  Value exponent = arith::AddIOp::create(
      builder, doubles.loc,
      arith::FPToSIOp::create(builder, doubles.loc, i64, n), integer(1023));
  return arith::BitcastOp::create(
      builder, doubles.loc, builder.getF64Type(),
      arith::ShLIOp::create(builder, doubles.loc, exponent, integer(52)));
}

/// e^x = 2^n e^r with |r| <= log(2) / 2.
static Value expand(math::ExpOp op, Doubles &doubles) {
  Value n = doubles.nearest(
      doubles.multiply(op.getOperand(), doubles.constant(M_LOG2E)));
  n = arith::MaximumFOp::create(doubles.builder, doubles.loc, n,
                                doubles.constant(-1022));
  n = arith::MinimumFOp::create(doubles.builder, doubles.loc, n,
                                doubles.constant(1023));
  Value r = doubles.reduce(op.getOperand(), n,
                           {0x1.62e42feep-1, 0x1.a39ef35793c76p-33});
  Value series =
      doubles.polynomial(r, inverseFactorials(14, /*first=*/0, /*step=*/1));
  return doubles.multiply(series, powerOfTwo(doubles, n));
}

/// sin(x + quarters * pi / 2), with r = x - n pi / 2 and |r| <= pi / 4. Exact
/// enough for |x| below 2^20.
static Value expandSine(Value x, int64_t quarters, Doubles &doubles) {
  OpBuilder &builder = doubles.builder;
  Location loc = doubles.loc;
  Value n = doubles.nearest(doubles.multiply(x, doubles.constant(M_2_PI)));
  Value r = doubles.reduce(
      x, n, {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69});
  Value square = doubles.multiply(r, r);
  Value sine = doubles.multiply(
      r, doubles.polynomial(square, inverseFactorials(8, 1, 2)));
  Value cosine = doubles.polynomial(square, inverseFactorials(9, 0, 2));
  Type i64 = builder.getI64Type();
  auto integer = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  Value quadrant = arith::AddIOp::create(
      builder, loc, arith::FPToSIOp::create(builder, loc, i64, n),
      integer(quarters));
  auto hasBit = [&](int64_t bit) {
    return arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, quadrant, integer(bit)),
        integer(0));
  };
  Value value = arith::SelectOp::create(builder, loc, hasBit(1), cosine, sine);
  return arith::SelectOp::create(builder, loc, hasBit(2),
                                 arith::NegFOp::create(builder, loc, value),
                                 value);
}

/// What stands for an op of f64; null where it may stay.
static Value expandDouble(Operation *op) {
  if (!op->getResult(0).getType().isF64())
    return {};
  OpBuilder builder(op);
  Doubles doubles(builder, op->getLoc());
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) { return expand(exp, doubles); })
      .Case([&](math::SinOp sin) {
        return expandSine(sin.getOperand(), 0, doubles);
      })
      .Case([&](math::CosOp cos) {
        return expandSine(cos.getOperand(), 1, doubles);
      })
      .Default(Value());
}

namespace {
struct ExpandMath : heddle::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    for (Operation *op : functions)
      if (Value value = expandDouble(op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      }
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(
        patterns, {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "ceilf",
                   "powf", "fpowi", "exp2", "rsqrt"});
    auto isExpanded = [](StringRef name) {
      return !llvm::is_contained(kInstructions, name);
    };
    populateMathF32ExpansionPatterns(patterns, isExpanded);
    populateMathPolynomialApproximationPatterns(patterns, isExpanded);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  /// What PTX has, rounded as IEEE 754 says.
  static constexpr StringLiteral kInstructions[] = {
      "math.sqrt",  "math.fma",  "math.absf", "math.roundeven",
      "math.floor", "math.ceil", "math.trunc"};
};
} // namespace
