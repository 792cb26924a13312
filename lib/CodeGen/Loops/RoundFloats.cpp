//===- RoundFloats.cpp - Rounding to nearest even, in integers ------------===//
//
// bf16 is the upper half of an f32. Half a step is added to the bits, a little
// less if the upper half is even, and the lower half is cut off: a carry moves
// the result to the next number, or from the largest one to infinity. Denormals
// become zeros of their sign, and NaN becomes a quiet one so that cutting does
// not make it infinite. Selects choose among these, so that vectors need no
// branch.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/RoundFloats.h"
#include "dialect/Arith.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

Type heddle::typeLike(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

static Value roundToBf16(OpBuilder &builder, Location loc, Value x) {
  Arith math(builder, loc);
  Type halves = typeLike(x.getType(), builder.getI16Type());
  Value bits = math.bitcastToI32(x);
  auto constant = [&](uint32_t value) {
    return math.constant(int32_t(value), bits);
  };
  auto all = [&](Value word, uint32_t mask) {
    return math.bitAnd(word, constant(mask));
  };
  Value odd = all(math.shiftRight(bits, 16), 1);
  Value half = math.add(odd, constant(0x7fff));
  Value nearest = math.add(bits, half);
  Value isDenormal = math.equal(all(bits, 0x7f800000), constant(0));
  Value isNumber =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
  Value quiet = math.bitOr(bits, constant(0x00400000));
  Value result = math.select(isNumber, nearest, quiet);
  result = math.select(isDenormal, all(bits, 0x80000000), result);
  return arith::BitcastOp::create(
      builder, loc, typeLike(x.getType(), builder.getBF16Type()),
      arith::TruncIOp::create(builder, loc, halves,
                              math.shiftRight(result, 16)));
}

Value heddle::roundTo(Type element, OpBuilder &builder, Location loc, Value x) {
  return element.isF16() ? arith::TruncFOp::create(
                               builder, loc, typeLike(x.getType(), element), x)
                         : roundToBf16(builder, loc, x);
}

Value heddle::widen(OpBuilder &builder, Location loc, Value x) {
  if (getElementTypeOrSelf(x).isF16())
    return arith::ExtFOp::create(
        builder, loc, typeLike(x.getType(), builder.getF32Type()), x);
  Type words = typeLike(x.getType(), builder.getI32Type());
  Type halves = typeLike(x.getType(), builder.getI16Type());
  Value bits = arith::ExtUIOp::create(
      builder, loc, words, arith::BitcastOp::create(builder, loc, halves, x));
  Arith math(builder, loc);
  return math.bitcastToF32(math.shiftLeft(bits, 16));
}
