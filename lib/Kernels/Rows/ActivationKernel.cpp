//===- ActivationKernel.cpp - Kernels of activation -----------------------===//
//
// x sigmoid(u) is computed as x / (1 + e^-u): one division. The tanh form of
// gelu is one of these, since (1 + tanh(u)) / 2 = sigmoid(2 u).
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/ActivationKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// (Phi(x) - 1/2) / x as a polynomial in x^2 - kPhiOne^2, Phi within 4.3e-6;
/// from kPhiOne on Phi is 1.
static constexpr double kPhiOne = 4.5;
static constexpr double kPhi[] = {
    0.1111111119389534,      -0.0027449754998087883, 9.427469922229648e-05,
    -1.0010090591094922e-05, -1.9244696431997e-06,   -4.133632103275886e-07,
    -4.486568982997596e-08,  -2.945253374520007e-09, -1.0344001349915644e-10,
    -1.6285458225018257e-12,
};

/// log2(Phi(-t)) as a polynomial in t up to kTailEnd, where t Phi(-t) is 6e-9:
/// what it adds to the error of x Phi(x) is below 2^-26 of that for x > 0, and
/// below 5e-8 for others.
static constexpr double kTailEnd = 6;
static constexpr double kTail[] = {
    -1.0,
    -1.1511048607569399,
    -0.45921209541499336,
    -0.0524819758901666,
    0.007039962594979456,
    -0.00011704312098994313,
    -0.00019511031064284716,
    4.138419742900338e-05,
    -3.0116809541932985e-06,
};

/// x Phi(x), with the distribution function of the normal distribution, as
/// max(x, 0) - |x| Phi(-|x|): one formula for both signs.
static Value emitGelu(Value x, const VectorMath &math) {
  OpBuilder &builder = math.builder;
  Location loc = math.loc;
  Value zero = math.constant(0, x), end = math.constant(kTailEnd, x);
  Value magnitude = math::AbsFOp::create(builder, loc, x);
  // A NaN stays one: no comparison holds.
  Value limited = math.select(math.less(end, magnitude), end, magnitude);
  Value tail = math.exp2(math.polynomial(limited, kTail));
  Value negated = arith::NegFOp::create(builder, loc, limited);
  return math.fma(negated, tail, math.select(math.less(x, zero), zero, x));
}

/// The same to the digits of bf16.
static Value emitShortGelu(Value x, const VectorMath &math) {
  auto multiplyAdd = [&](Value a, Value b, double c) -> Value {
    return math.fma(a, b, math.constant(c, x));
  };
  Value high = math.constant(kPhiOne, x), low = math.constant(-kPhiOne, x);
  Value limited = math.select(math.greater(x, high), high, x);
  limited = math.select(math.less(limited, low), low, limited);
  Value square = multiplyAdd(limited, limited, -kPhiOne * kPhiOne);
  Value phi = multiplyAdd(limited, math.polynomial(square, kPhi), 0.5);
  return math.mul(x, phi);
}

Value heddle::emitShortActivation(ActivationKind kind, Value x,
                                  const VectorMath &math) {
  return kind == ActivationKind::Gelu ? emitShortGelu(x, math)
                                      : emitActivation(kind, x, math);
}

Value heddle::emitActivation(ActivationKind kind, Value x,
                             const VectorMath &math) {
  OpBuilder &builder = math.builder;
  Location loc = math.loc;
  auto scaled = [&](double factor) {
    return math.mul(x, math.constant(factor, x));
  };
  // x / (1 + e^power).
  auto xOver = [&](Value power) -> Value {
    Value sum = math.add(math.constant(1, x), math.exp(power));
    return math.div(x, sum);
  };
  switch (kind) {
  case ActivationKind::Relu: {
    Value zero = math.constant(0, x);
    Value isNegative = math.greater(zero, x);
    return math.select(isNegative, zero, x);
  }
  case ActivationKind::Gelu:
    return emitGelu(x, math);
  case ActivationKind::GeluTanh: {
    // -2 sqrt(2 / pi) (x + 0.044715 x^3).
    double linear = -2 * std::sqrt(2 / M_PI);
    Value square = math.mul(x, x);
    Value factor = math.polynomial(square, {linear, 0.044715 * linear});
    return xOver(math.mul(x, factor));
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
