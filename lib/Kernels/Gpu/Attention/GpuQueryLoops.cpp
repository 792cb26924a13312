//===- GpuQueryLoops.cpp - A query of attention on a GPU ------------------===//
//
// Probabilities of short floats take two fused multiply-adds and a power:
// 2^((product scale - base) log2 e - n). The base is 0, and n the integer next
// to maximum log2 e. Where maximum log2 e has no digits behind the point, it is
// too large for that: the base is the maximum then, and n is 0. All of it but
// the product is the same for a row. If the maximum grows, both may change, and
// sums are multiplied by 2^((base - base') log2 e + n - n').
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/GpuQueryLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

bool GpuQueryLoops::weighsProducts(AttentionOp op) {
  return op.getNormalizer() == Normalizer::Softmax && op.isOfShortFloats() &&
         op.getScore().empty() && op.getSimilarity().empty() &&
         op.getEffectiveScale() > 0;
}

GpuQueryLoops::Origin GpuQueryLoops::originOf(Value maximum) {
  OpBuilder &builder = loops.builder;
  Value exponent = loops.mul(maximum, loops.f32(M_LOG2E));
  Value isWhole = arith::CmpFOp::create(
      builder, loops.loc, arith::CmpFPredicate::OGE,
      math::AbsFOp::create(builder, loops.loc, exponent), loops.f32(0x1p23));
  Value zero = loops.f32(0);
  Value whole = math::RoundEvenOp::create(builder, loops.loc, exponent);
  return {loops.select(isWhole, maximum, zero),
          loops.select(isWhole, zero, whole)};
}

Value GpuQueryLoops::powerOf(Value difference, const Origin &origin) {
  Value less = arith::NegFOp::create(loops.builder, loops.loc, origin.exponent);
  return exp2(loops.fma(difference, loops.f32(M_LOG2E), less));
}

Value GpuQueryLoops::exponential(Value score, Value maximum) {
  if (!op.isOfShortFloats())
    return QueryLoops::exponential(score, maximum);
  Origin origin = originOf(maximum);
  return powerOf(loops.sub(score, origin.base), origin);
}

Value GpuQueryLoops::probabilityOfProduct(Value product, Value maximum) {
  Origin origin = originOf(maximum);
  Value less = arith::NegFOp::create(loops.builder, loops.loc, origin.base);
  Value scale = loops.f32(op.getEffectiveScale());
  return powerOf(loops.fma(product, scale, less), origin);
}

Value GpuQueryLoops::growthOf(Value maximum, Value larger) {
  if (!op.isOfShortFloats())
    return loops.exp(loops.sub(maximum, larger));
  Origin before = originOf(maximum), after = originOf(larger);
  Value factor =
      exp2(loops.fma(loops.sub(before.base, after.base), loops.f32(M_LOG2E),
                     loops.sub(before.exponent, after.exponent)));
  // Both may be infinite.
  return loops.select(loops.equal(maximum, larger), loops.f32(1), factor);
}

void heddle::forGenerated(AttentionOp op, Value row, bool areGenerated,
                          BlockCode &code, function_ref<void()> body) {
  if (!areGenerated)
    return body();
  Value last = code.sub(code.toI32(code.size(op.getPrefill(), 0)), code.i32(1));
  Value first = code.loadWord(op.getPrefill(), last);
  code.ifThen(code.logicalNot(code.uless(row, first)), body);
}
