//===- ActivationKernel.cpp - Kernels of activation -----------------------===//
//
// x sigmoid(u) is computed as x / (1 + e^-u): one division. The tanh form of
// gelu is one of these, since (1 + tanh(u)) / 2 = sigmoid(2 u).
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/ActivationKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

Value heddle::emitActivation(ActivationKind kind, Value x,
                             const VectorMath &math) {
  OpBuilder &builder = math.builder;
  Location loc = math.loc;
  auto mul = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(builder, loc, a, b);
  };
  auto scaled = [&](double factor) { return mul(x, math.constant(factor, x)); };
  // x / (1 + e^power).
  auto xOver = [&](Value power) -> Value {
    Value sum = arith::AddFOp::create(builder, loc, math.constant(1, x),
                                      math.exp(power));
    return arith::DivFOp::create(builder, loc, x, sum);
  };
  switch (kind) {
  case ActivationKind::Relu: {
    Value zero = math.constant(0, x);
    Value isNegative =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, zero, x);
    return arith::SelectOp::create(builder, loc, isNegative, zero, x);
  }
  case ActivationKind::Gelu: {
    Value half = scaled(0.5);
    return math::FmaOp::create(builder, loc, half,
                               math.erf(scaled(std::sqrt(0.5))), half);
  }
  case ActivationKind::GeluTanh: {
    // -2 sqrt(2 / pi) (x + 0.044715 x^3).
    double linear = -2 * std::sqrt(2 / M_PI);
    Value square = mul(x, x);
    Value factor = math.polynomial(square, {linear, 0.044715 * linear});
    return xOver(mul(x, factor));
  }
  case ActivationKind::QuickGelu:
    return xOver(scaled(-1.702));
  case ActivationKind::Silu:
    return xOver(arith::NegFOp::create(builder, loc, x));
  case ActivationKind::Tanh:
    return math.tanh(x);
  case ActivationKind::Sigmoid:
    return math.sigmoid(x);
  }
  llvm_unreachable("all activations are listed");
}

void heddle::emitKernel(ActivationOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  OpFoldResult width = kernel.widthOf(input);
  // Dynamic widths are those of lists of logits: hundreds at least.
  int64_t work = getConstantIntValue(width).value_or(256) *
                 (op.getKind() == ActivationKind::Relu ? 1 : 8);
  kernel.forEachRow(kernel.loops.size(input, 0), work, [&](Value row) {
    kernel.forEachSlice(width, [&](const Slice &slice) {
      Value x = kernel.load(input, row, slice);
      kernel.store(emitActivation(op.getKind(), x, kernel.math), output, row,
                   slice);
    });
  });
}
