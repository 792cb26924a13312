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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace heddle;

Type heddle::typeLike(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

/// A number, or a vector of it, of a type of i32.
static Value wordOf(OpBuilder &builder, Location loc, Type words,
                    uint32_t value) {
  Attribute number = builder.getI32IntegerAttr(int32_t(value));
  if (auto vector = dyn_cast<VectorType>(words))
    number = DenseElementsAttr::get(vector, number);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(number));
}

static Value roundToBf16(OpBuilder &builder, Location loc, Value x) {
  Type words = typeLike(x.getType(), builder.getI32Type());
  Type halves = typeLike(x.getType(), builder.getI16Type());
  auto constant = [&](uint32_t value) {
    return wordOf(builder, loc, words, value);
  };
  auto shift = [&](Value bits) -> Value {
    return arith::ShRUIOp::create(builder, loc, bits, constant(16));
  };
  auto all = [&](Value bits, uint32_t mask) -> Value {
    return arith::AndIOp::create(builder, loc, bits, constant(mask));
  };
  auto choose = [&](Value condition, Value then, Value otherwise) -> Value {
    return arith::SelectOp::create(builder, loc, condition, then, otherwise);
  };
  Value bits = arith::BitcastOp::create(builder, loc, words, x);
  Value odd = all(shift(bits), 1);
  Value half = arith::AddIOp::create(builder, loc, odd, constant(0x7fff));
  Value nearest = arith::AddIOp::create(builder, loc, bits, half);
  Value isDenormal =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            all(bits, 0x7f800000), constant(0));
  Value isNumber =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
  Value quiet = arith::OrIOp::create(builder, loc, bits, constant(0x00400000));
  Value result = choose(isNumber, nearest, quiet);
  result = choose(isDenormal, all(bits, 0x80000000), result);
  return arith::BitcastOp::create(
      builder, loc, typeLike(x.getType(), builder.getBF16Type()),
      arith::TruncIOp::create(builder, loc, halves, shift(result)));
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
  return arith::BitcastOp::create(
      builder, loc, typeLike(x.getType(), builder.getF32Type()),
      arith::ShLIOp::create(builder, loc, bits,
                            wordOf(builder, loc, words, 16)));
}
