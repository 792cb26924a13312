//===- GridMath.cpp - Elementary functions on a GPU -----------------------===//
//
// Functions of f32 are the polynomials of VectorMath, on scalars:
// a GPU has fused multiply-adds, too, so the bits agree. A sinusoid is computed
// in f64 and rounded once, as the angle may be large. Sine and cosine are one
// expression with a select, so that the lanes of a warp do not branch apart.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "lib/Kernels/Math/DoubleMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

/// The rounded quotient, of one that is within an ulp and the rounded
/// reciprocal (Markstein, "Computation of elementary functions on the IBM RISC
/// System/6000 processor", 1990).
static Value refine(const Arith &math, Value a, Value b, Value reciprocal,
                    Value quotient) {
  Value minus = arith::NegFOp::create(math.builder, math.loc, b);
  Value rest = math.fma(minus, quotient, a);
  return math.fma(rest, reciprocal, quotient);
}

/// The steps of PTX's div.rn without its branch for operands at the ends, which
/// costs more than they do.
Value GridMath::divideOrdinary(Value a, Value b) const {
  Type f32 = builder.getF32Type();
  if (b.getType() != f32)
    return VectorMath::divideOrdinary(a, b);
  Value near = NVVM::RcpApproxFtzF32Op::create(builder, loc, f32, b);
  Value reciprocal = refine(*this, constant(1, b), b, near, near);
  Value quotient = mul(a, reciprocal);
  quotient = refine(*this, a, b, reciprocal, quotient);
  return refine(*this, a, b, reciprocal, quotient);
}

bool GridMath::dividesFast(float divisor) {
  float magnitude = std::fabs(divisor);
  return magnitude >= 0x1p-64f && magnitude <= 0x1p64f;
}

Value GridMath::divideBy(Value x, float divisor) const {
  Value reciprocal = constant(1.0f / divisor, x);
  Value quotient = mul(x, reciprocal);
  Value refined = refine(*this, x, constant(divisor, x), reciprocal, quotient);
  // Of infinities nothing is left to refine.
  Value isNumber = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::ORD, refined, refined);
  return select(isNumber, refined, quotient);
}

Value heddle::sinusoidAt(const Sinusoid &sinusoid, Value position, Value column,
                         BlockCode &code) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Type f64 = builder.getF64Type();
  auto toF64 = [&](Value value) -> Value {
    return arith::SIToFPOp::create(builder, loc, f64, value);
  };
  bool halves = sinusoid.layout == PositionLayout::Halves;
  Value half = code.i32(sinusoid.width / 2);
  Value isSine = halves ? code.uless(column, half)
                        : code.equal(code.urem(column, 2), code.i32(0));
  Value k = halves ? code.select(isSine, column, code.sub(column, half))
                   : code.udiv(column, 2);
  Value rate = arith::ConstantOp::create(
      builder, loc,
      builder.getF64FloatAttr(-std::log(10000.0) / sinusoid.timescales));
  Value frequency = math::ExpOp::create(builder, loc, code.mul(rate, toF64(k)));
  Value angle = code.mul(toF64(position), frequency);
  Value term = doubles::sinOrCos(Double(builder, loc, angle), isSine).value;
  return arith::TruncFOp::create(builder, loc, builder.getF32Type(), term);
}
