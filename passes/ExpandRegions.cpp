//===- ExpandRegions.cpp - Regions of attention as total functions --------===//
//
// Reference and kernels evaluate one region differently: number by number on
// pairs of the mask, or in lanes on all pairs of a tile. Both start from what
// this pass leaves: ops that are defined for every operand, that no level needs
// a library for but libm, and whose results allow no choice. It runs before
// anything folds, since folders know only arith's own, partial meaning.
//
// Three walks: promises are dropped and narrow floats computed in f32; ops that
// are undefined for some operands get others there; what is left is composed of
// simpler ops. Upstream's patterns do the last for bf16 and rounded divisions;
// those for fpowi (NaN below 0) and clampf (bounds swapped) are wrong.
//
//===----------------------------------------------------------------------===//

#include "passes/ExpandRegions.h"
#include "dialect/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "passes/Passes.h"
#include <cmath>
#include <limits>

namespace heddle {
#define GEN_PASS_DEF_EXPANDREGIONSPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IndexType::kInternalStorageBitWidth
                           : element.getIntOrFloatBitWidth();
}

namespace {
/// Arithmetic on numbers, or on vectors of them, at the builder's place.
struct Arithmetic : Arith {
  using Arith::Arith;

  /// `value`, in all lanes.
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value number(Type type, const APInt &value) {
    return constant(type,
                    builder.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value number(Type type, int64_t value) {
    return number(
        type, APInt(64, value, /*isSigned=*/true).sextOrTrunc(bitsOf(type)));
  }
  Value real(Type type, double value) {
    return constant(type,
                    builder.getFloatAttr(getElementTypeOrSelf(type), value));
  }
  Value is(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value is(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Promises and narrow floats
//===----------------------------------------------------------------------===//

/// Drops the flags that make a result undefined or leave it open.
static void dropPromises(Operation *op) {
  if (auto floats = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(floats.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::none));
  if (auto integers = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(integers.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    op->getContext(), arith::IntegerOverflowFlags::none));
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    op->removeAttr("isExact");
  // The verifier lets through the mode that all code runs in.
  if (auto truncate = dyn_cast<arith::TruncFOp>(op))
    truncate.removeRoundingmodeAttr();
}

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

/// Whether `op` computes with floats: it does not move or test their bits, or
/// convert them from or to f32.
static bool computesFloats(Operation *op) {
  if (isa<arith::BitcastOp, arith::ConstantOp, arith::SelectOp,
          math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::IsNormalOp>(op))
    return false;
  if (isa<arith::ExtFOp>(op))
    return !getElementTypeOrSelf(op->getResult(0)).isF32();
  if (isa<arith::TruncFOp>(op))
    return !getElementTypeOrSelf(op->getOperand(0)).isF32();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<vector::FMAOp, vector::ReductionOp>(op);
}

/// Computes in f32 what `op` computes in f16 or bf16, and rounds the results.
static void widenFloats(Operation *op) {
  if (!computesFloats(op))
    return;
  OpBuilder builder(op);
  Type f32 = builder.getF32Type();
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = operand.get().getType(); isNarrow(type))
      operand.set(arith::ExtFOp::create(builder, op->getLoc(),
                                        withElement(type, f32), operand.get()));
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    Type type = result.getType();
    if (!isNarrow(type))
      continue;
    result.setType(withElement(type, f32));
    auto rounded = arith::TruncFOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

//===----------------------------------------------------------------------===//
// Total functions
//===----------------------------------------------------------------------===//

/// The constant in `value`, the same in all lanes.
static std::optional<APInt> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  return std::nullopt;
}

namespace {
/// x / 0 = 0, x rem 0 = x, and the lowest integer by -1 wraps.
template <typename Op, bool isSigned, bool isRemainder>
struct DivideByAnything : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Arithmetic a(rewriter, op.getLoc());
    Type type = op.getType();
    Value x = op.getLhs(), y = op.getRhs();
    std::optional<APInt> divisor = constantOf(y);
    if (divisor && !divisor->isZero() && !(isSigned && divisor->isAllOnes()))
      return rewriter.notifyMatchFailure(op, "expected a divisor that may be "
                                             "0 or overflow");
    unsigned bits = bitsOf(type);
    Value zero = a.number(type, 0);
    Value isZero = a.is(arith::CmpIPredicate::eq, y, zero);
    // Of i1 no lane holds 1: its two values are 0 and -1, and x / -1 is x.
    if (isSigned && bits == 1) {
      Value isOne = a.is(arith::CmpIPredicate::ne, y, zero);
      rewriter.replaceOp(op, a.logicalAnd(x, isRemainder ? isZero : isOne));
      return success();
    }
    Value isBad = isZero;
    if (isSigned) {
      Value isLowest = a.is(arith::CmpIPredicate::eq, x,
                            a.number(type, APInt::getSignedMinValue(bits)));
      Value isMinusOne = a.is(arith::CmpIPredicate::eq, y, a.number(type, -1));
      isBad = a.logicalOr(isZero, a.logicalAnd(isLowest, isMinusOne));
    }
    Value safe = a.select(isBad, a.number(type, 1), y);
    Value result = Op::create(rewriter, op.getLoc(), x, safe);
    rewriter.replaceOp(op, a.select(isZero, isRemainder ? x : zero, result));
    return success();
  }
};

/// Shifting by the width or more leaves nothing, or the sign.
template <typename Op> struct ShiftByAnything : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Arithmetic a(rewriter, op.getLoc());
    Type type = op.getType();
    Value amount = op.getRhs();
    unsigned bits = bitsOf(type);
    std::optional<APInt> constant = constantOf(amount);
    if (constant && constant->ult(bits))
      return rewriter.notifyMatchFailure(op, "expected an amount that may "
                                             "leave the width");
    Value zero = a.number(type, 0), last = a.number(type, bits - 1);
    Value isInside = a.is(arith::CmpIPredicate::ule, amount, last);
    bool keepsSign = std::is_same_v<Op, arith::ShRSIOp>;
    // LLVM would see that a choice between the amount and zero has no effect,
    // and NVPTX would then read the low 32 bits of the amount alone.
    Value safe =
        keepsSign ? a.select(isInside, amount, last) : a.bitAnd(amount, last);
    Value result = Op::create(rewriter, op.getLoc(), op.getLhs(), safe);
    rewriter.replaceOp(op,
                       keepsSign ? result : a.select(isInside, result, zero));
    return success();
  }
};

/// The nearest integer of the type towards zero; NaN becomes 0.
template <typename Op, bool isSigned>
struct ConvertAnything : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Arithmetic a(rewriter, op.getLoc());
    Value x = op.getIn();
    Type from = x.getType(), to = op.getType();
    unsigned bits = bitsOf(to);
    APInt lowest = isSigned ? APInt::getSignedMinValue(bits) : APInt(bits, 0);
    APInt highest =
        isSigned ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
    // Powers of two and 0: exact in every type.
    double begin = isSigned ? -std::ldexp(1.0, bits - 1) : 0;
    double end = std::ldexp(1.0, isSigned ? bits - 1 : bits);
    Value isBelow = a.is(arith::CmpFPredicate::OLE, x, a.real(from, begin));
    Value isAbove = a.is(arith::CmpFPredicate::OGE, x, a.real(from, end));
    Value isNaN = a.is(arith::CmpFPredicate::UNO, x, x);
    Value isOutside = a.logicalOr(a.logicalOr(isBelow, isAbove), isNaN);
    Value safe = a.select(isOutside, a.real(from, 0), x);
    Value result = Op::create(rewriter, op.getLoc(), to, safe);
    result = a.select(isBelow, a.number(to, lowest), result);
    rewriter.replaceOp(op, a.select(isAbove, a.number(to, highest), result));
    return success();
  }
};

/// x^n by squaring, one bit of n after the other. Below 0 the bits but the sign
/// are those of an exponent with the same parity: all that 1 and -1 ask for.
/// 1 / x^-n of anything else is 0.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Arithmetic a(rewriter, op.getLoc());
    Type type = op.getType();
    Value x = op.getLhs(), n = op.getRhs();
    Value zero = a.number(type, 0), one = a.number(type, 1);
    auto times = [&](Value lhs, Value rhs) -> Value {
      return arith::MulIOp::create(rewriter, op.getLoc(), lhs, rhs);
    };
    unsigned bits = bitsOf(type);
    Value power = one, square = x;
    for (unsigned bit = 0; bit + 1 < bits; ++bit) {
      if (bit > 0)
        square = times(square, square);
      Value part = a.bitAnd(n, a.number(type, APInt::getOneBitSet(bits, bit)));
      power = a.select(a.is(arith::CmpIPredicate::ne, part, zero),
                       times(power, square), power);
    }
    Value isUnit =
        a.logicalOr(a.is(arith::CmpIPredicate::eq, x, one),
                    a.is(arith::CmpIPredicate::eq, x, a.number(type, -1)));
    Value isNegative = a.is(arith::CmpIPredicate::slt, n, zero);
    rewriter.replaceOp(
        op, a.select(isNegative, a.select(isUnit, power, zero), power));
    return success();
  }
};

/// x^n as |x|^n, with the sign of x if n is odd.
struct ExpandFloatPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic a(rewriter, loc);
    Value x = op.getLhs(), n = op.getRhs();
    Value exponent = arith::SIToFPOp::create(rewriter, loc, x.getType(), n);
    Value size = math::AbsFOp::create(rewriter, loc, x);
    Value power = math::PowFOp::create(rewriter, loc, size, exponent);
    Value withSign = math::CopySignOp::create(rewriter, loc, power, x);
    Value parity = a.bitAnd(n, a.number(n.getType(), 1));
    Value isEven =
        a.is(arith::CmpIPredicate::eq, parity, a.number(n.getType(), 0));
    rewriter.replaceOp(op, a.select(isEven, power, withSign));
    return success();
  }
};

struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value raised = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                             op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, raised, op.getMax());
    return success();
  }
};

/// What a float is, from its size.
template <typename Op> struct CompareSize : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Arithmetic a(rewriter, loc);
    Value x = op.getOperand();
    Type type = x.getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    double smallest =
        APFloat::getSmallestNormalized(element.getFloatSemantics())
            .convertToDouble();
    if (isNarrow(type)) {
      type = withElement(type, rewriter.getF32Type());
      x = arith::ExtFOp::create(rewriter, loc, type, x);
    }
    Value size = math::AbsFOp::create(rewriter, loc, x);
    Value infinity = a.real(type, std::numeric_limits<double>::infinity());
    Value result;
    if (std::is_same_v<Op, math::IsNaNOp>)
      result = a.is(arith::CmpFPredicate::UNO, size, size);
    else if (std::is_same_v<Op, math::IsInfOp>)
      result = a.is(arith::CmpFPredicate::OEQ, size, infinity);
    else
      result = a.is(arith::CmpFPredicate::OLT, size, infinity);
    if (std::is_same_v<Op, math::IsNormalOp>)
      result = a.logicalAnd(result, a.is(arith::CmpFPredicate::OGE, size,
                                         a.real(type, smallest)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct SplitSinCos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    Value sin = math::SinOp::create(rewriter, op.getLoc(), x);
    Value cos = math::CosOp::create(rewriter, op.getLoc(), x);
    rewriter.replaceOp(op, {sin, cos});
    return success();
  }
};

struct ExpandRegions : heddle::impl::ExpandRegionsPassBase<ExpandRegions> {
  void runOnOperation() override { expandRegions(getOperation()); }
};
} // namespace

void heddle::expandRegions(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context), upstream(context);
  patterns.add<DivideByAnything<arith::DivUIOp, false, false>,
               DivideByAnything<arith::DivSIOp, true, false>,
               DivideByAnything<arith::CeilDivUIOp, false, false>,
               DivideByAnything<arith::CeilDivSIOp, true, false>,
               DivideByAnything<arith::FloorDivSIOp, true, false>,
               DivideByAnything<arith::RemUIOp, false, true>,
               DivideByAnything<arith::RemSIOp, true, true>,
               ShiftByAnything<arith::ShLIOp>, ShiftByAnything<arith::ShRUIOp>,
               ShiftByAnything<arith::ShRSIOp>,
               ConvertAnything<arith::FPToSIOp, true>,
               ConvertAnything<arith::FPToUIOp, false>,
               CompareSize<math::IsFiniteOp>, CompareSize<math::IsInfOp>,
               CompareSize<math::IsNaNOp>, CompareSize<math::IsNormalOp>,
               ExpandIntegerPower, ExpandFloatPower, ExpandClamp, SplitSinCos>(
      context);
  arith::populateCeilFloorDivExpandOpsPatterns(upstream);
  arith::populateExpandBFloat16Patterns(upstream);
  FrozenRewritePatternSet total(std::move(patterns)),
      simple(std::move(upstream));
  module.walk([&](Operation *op) {
    if (!isa_and_nonnull<TransformerDialect>(op->getDialect()))
      return;
    for (Region &region : op->getRegions())
      region.walk([](Operation *inner) {
        dropPromises(inner);
        widenFloats(inner);
      });
    // The walks see each op once: what a pattern builds is not expanded
    // again.
    walkAndApplyPatterns(op, total);
    walkAndApplyPatterns(op, simple);
  });
}
