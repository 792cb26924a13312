//===- RowDot.cpp - Bytes by bytes, summed in i32 -------------------------===//
//
// VNNI multiplies four bytes a lane, vpmaddwd two elements of 16 bits. Integer
// sums are exact, so all ways give the same bits.
//
// The end of a row is loaded with a mask, and reads zeros behind it. x is
// shifted there, too, which does no harm: w is 0, or the correction subtracts
// what the products added.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/RowDot.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// A number in all lanes of a vector of integers.
static Value constant(VectorLoops &loops, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      loops.builder, loops.loc,
      DenseElementsAttr::get(type,
                             IntegerAttr::get(type.getElementType(), value)));
}

int64_t RowDot::elements() const {
  return (isVnni() ? 4 : 2) * loops.isa.lanes;
}

Value RowDot::zeros() const {
  return constant(
      loops, VectorType::get(loops.isa.lanes, loops.builder.getI32Type()), 0);
}

Value RowDot::load(Value memref, ValueRange at, int64_t count) const {
  OpBuilder &builder = loops.builder;
  auto type = VectorType::get(elements(), builder.getI8Type());
  if (count == elements())
    return vector::LoadOp::create(builder, loops.loc, type, memref, at);
  Value mask = vector::ConstantMaskOp::create(
      builder, loops.loc, type.clone(builder.getI1Type()), count);
  return vector::MaskedLoadOp::create(builder, loops.loc, type, memref, at,
                                      mask, constant(loops, type, 0));
}

Value RowDot::loadX(Value memref, ValueRange at, int64_t count) const {
  OpBuilder &builder = loops.builder;
  Value x = load(memref, at, count);
  auto type = cast<VectorType>(x.getType());
  if (!isVnni()) {
    VectorType wide = type.clone(builder.getI16Type());
    x = arith::ExtSIOp::create(builder, loops.loc, wide, x);
    return loops.add(x, constant(loops, wide, shift));
  }
  // Encoded it is x + 128.
  if (shift != 0)
    return loops.sub(x, constant(loops, type, 128 - shift));
  return MultiplyAdd(loops, builder.getI8Type()).encode(x);
}

Value RowDot::loadW(Value memref, ValueRange at, int64_t count) const {
  OpBuilder &builder = loops.builder;
  Value w = load(memref, at, count);
  auto type = cast<VectorType>(w.getType());
  if (!isVnni())
    return arith::ExtSIOp::create(builder, loops.loc,
                                  type.clone(builder.getI16Type()), w);
  return hasCorrection() ? loops.bitXor(w, constant(loops, type, -128)) : w;
}

Value RowDot::dot(Value unsignedBytes, Value bytes, Value sums) const {
  std::string name =
      "llvm.x86.avx512.vpdpbusd." + std::to_string(32 * loops.isa.lanes);
  return LLVM::CallIntrinsicOp::create(loops.builder, loops.loc, sums.getType(),
                                       loops.builder.getStringAttr(name),
                                       ValueRange{sums, unsignedBytes, bytes})
      .getResult(0);
}

Value RowDot::multiplyAdd(Value x, Value w, Value sums) const {
  if (isVnni())
    return hasCorrection() ? dot(w, x, sums) : dot(x, w, sums);
  StringRef name = loops.isa.lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512"
                                         : "llvm.x86.avx2.pmadd.wd";
  Value products = LLVM::CallIntrinsicOp::create(
                       loops.builder, loops.loc, sums.getType(),
                       loops.builder.getStringAttr(name), ValueRange{x, w})
                       .getResult(0);
  return loops.add(sums, products);
}

Value RowDot::correctionOf(Value x, Value sums) const {
  Value all = constant(loops, cast<VectorType>(x.getType()), -128);
  return dot(all, x, sums);
}
