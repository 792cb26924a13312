//===- ExpandMath.cpp - Functions that a GPU has no instruction for -------===//
//
// Functions of f32 that models call often become GridMath's, with the bits of
// the lowest CPU level. All others become DoubleMath's: scalars of f64, right
// for every argument; sinusoidal positions are the only ones in a model without
// score regions. A division by a constant, frequent in score regions, avoids
// the branch that PTX's division has for very large and very small operands.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "lib/Kernels/Math/DoubleMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace heddle {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "passes/Passes.h.inc"
} // namespace heddle

using namespace mlir;
using namespace heddle;

/// Whether PTX has it, rounded as IEEE 754 says, or LLVM makes it of what PTX
/// has.
static bool isInstruction(Operation *op) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return isa<math::AbsIOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp>(op) ||
         ((type.isF32() || type.isF64()) &&
          isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
              math::FmaOp, math::RoundOp, math::RoundEvenOp, math::SqrtOp,
              math::TruncOp>(op));
}

/// Functions of VectorMath, scalars or vectors of f32; null for others.
static Value expandOften(Operation *op, OpBuilder &builder) {
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return {};
  GridMath math(builder, op->getLoc());
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ErfOp) { return math.erf(x); })
      .Case([&](math::ExpOp) { return math.exp(x); })
      .Case([&](math::Exp2Op) { return math.exp2(x); })
      .Case([&](math::TanhOp) { return math.tanh(x); })
      .Case([&](math::RsqrtOp) -> Value {
        return arith::DivFOp::create(
            builder, op->getLoc(), math.constant(1, x),
            math::SqrtOp::create(builder, op->getLoc(), x));
      })
      .Default(Value());
}

/// What an op computes of f64; nothing if it is unknown.
static std::optional<Double> expandDouble(Operation *op,
                                          ArrayRef<Double> operands) {
  Double x = operands[0];
  using Result = std::optional<Double>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::RemFOp) { return doubles::fmod(x, operands[1]); })
      .Case([&](math::AcosOp) { return doubles::acos(x); })
      .Case([&](math::AcoshOp) { return doubles::acosh(x); })
      .Case([&](math::AsinOp) { return doubles::asin(x); })
      .Case([&](math::AsinhOp) { return doubles::asinh(x); })
      .Case([&](math::AtanOp) { return doubles::atan(x); })
      .Case([&](math::Atan2Op) { return doubles::atan2(x, operands[1]); })
      .Case([&](math::AtanhOp) { return doubles::atanh(x); })
      .Case([&](math::CbrtOp) { return doubles::cbrt(x); })
      .Case([&](math::CosOp) { return doubles::cos(x); })
      .Case([&](math::CoshOp) { return doubles::cosh(x); })
      .Case([&](math::ErfOp) { return doubles::erf(x); })
      .Case([&](math::ErfcOp) { return doubles::erfc(x); })
      .Case([&](math::ExpOp) { return doubles::exp(x); })
      .Case([&](math::Exp2Op) { return doubles::exp2(x); })
      .Case([&](math::ExpM1Op) { return doubles::expm1(x); })
      .Case([&](math::FPowIOp) { return doubles::pow(x, operands[1]); })
      .Case([&](math::LogOp) { return doubles::log(x); })
      .Case([&](math::Log10Op) { return doubles::log10(x); })
      .Case([&](math::Log1pOp) { return doubles::log1p(x); })
      .Case([&](math::Log2Op) { return doubles::log2(x); })
      .Case([&](math::PowFOp) { return doubles::pow(x, operands[1]); })
      .Case([&](math::RsqrtOp) { return 1 / sqrt(x); })
      .Case([&](math::SinOp) { return doubles::sin(x); })
      .Case([&](math::SinhOp) { return doubles::sinh(x); })
      .Case([&](math::TanOp) { return doubles::tan(x); })
      .Case([&](math::TanhOp) { return doubles::tanh(x); })
      .Default(Result());
}

/// A number as f64; null if it is none.
static Value toDouble(OpBuilder &builder, Location loc, Value number) {
  Type type = number.getType(), f64 = builder.getF64Type();
  if (type == f64)
    return number;
  if (type.isInteger(32) || type.isInteger(16) || type.isInteger(8))
    return arith::SIToFPOp::create(builder, loc, f64, number);
  if (auto narrow = dyn_cast<FloatType>(type); narrow && narrow.getWidth() < 64)
    return arith::ExtFOp::create(builder, loc, f64, number);
  return {};
}

/// One number of the op's result.
static Value expandNumber(Operation *op, ValueRange numbers, Type result,
                          OpBuilder &builder) {
  Location loc = op->getLoc();
  SmallVector<Double> operands;
  for (Value number : numbers) {
    Value wide = toDouble(builder, loc, number);
    if (!wide)
      return {};
    operands.push_back({builder, loc, wide});
  }
  std::optional<Double> value = expandDouble(op, operands);
  if (!value)
    return {};
  if (result.isF64())
    return value->value;
  return arith::TruncFOp::create(builder, loc, result, value->value);
}

/// The numbers of a vector one after the other.
static Value expandVector(Operation *op, VectorType type, OpBuilder &builder) {
  Location loc = op->getLoc();
  SmallVector<ValueRange> rows;
  for (Value operand : op->getOperands())
    rows.push_back(
        vector::ToElementsOp::create(builder, loc, operand).getElements());
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> numbers;
    for (ValueRange row : rows)
      numbers.push_back(row[i]);
    results.push_back(
        expandNumber(op, numbers, type.getElementType(), builder));
    if (!results.back())
      return {};
  }
  return vector::FromElementsOp::create(builder, loc, type, results);
}

/// What stands for an op; null if nothing does.
static Value expand(Operation *op) {
  OpBuilder builder(op);
  if (Value value = expandOften(op, builder))
    return value;
  Type type = op->getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.isScalable() ? Value() : expandVector(op, vector, builder);
  return isa<FloatType>(type) && op->getNumResults() == 1
             ? expandNumber(op, op->getOperands(), type, builder)
             : Value();
}

/// A division of f32 by a number: PTX's takes some 20 instructions and a
/// branch. By a power of two LLVM multiplies.
static void expandDivision(arith::DivFOp op) {
  FloatAttr divisor;
  if (!op.getType().isF32() || !matchPattern(op.getRhs(), m_Constant(&divisor)))
    return;
  float value = divisor.getValue().convertToFloat();
  if (!GridMath::dividesFast(value) ||
      divisor.getValue().getExactInverse(nullptr))
    return;
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      GridMath(builder, op.getLoc()).divideBy(op.getLhs(), value));
  op.erase();
}

namespace {
struct ExpandMath : heddle::impl::ExpandMathPassBase<ExpandMath> {
  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      // LLVM's own remainder of floats is x - y trunc(x / y).
      if (isa<arith::RemFOp>(op) ||
          isa_and_nonnull<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    getOperation()->walk(expandDivision);
    for (Operation *op : functions) {
      if (isInstruction(op))
        continue;
      Value value = expand(op);
      if (!value) {
        op->emitError("a GPU has no '")
            << op->getName() << "' of " << op->getOperand(0).getType();
        return signalPassFailure();
      }
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
};
} // namespace
