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
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

VectorMath heddle::mathOf(BlockCode &code) {
  return VectorMath(code.builder, code.loc);
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
