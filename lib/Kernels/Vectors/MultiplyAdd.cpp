//===- MultiplyAdd.cpp - The instructions of each step --------------------===//
//
// For VNNI x is stored as x + 128: an exclusive or with 128 turns i8 into u8.
// Sums start at the first row of the panel, which takes the 128 back, so that
// the loop over the depth has no correction. If x itself is shifted, the start
// is scaled to the difference of the two shifts.
//
// An element of short floats without a partner is paired with a zero. Words are
// widened with shifts and masks, in the order that the table in the header
// gives.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "dialect/Transformer.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// From i8 to u8.
static constexpr int64_t kUnsignedShift = 128;
static constexpr int64_t kLineBytes = 64;

int64_t MultiplyAdd::rowsOfLine() const {
  int64_t bytes = group() * kPanelColumns * weight.getIntOrFloatBitWidth() / 8;
  return std::max<int64_t>(1, kLineBytes / bytes);
}

PanelLayout MultiplyAdd::layout() const {
  return PanelLayout(weightFormatOf(weight, isa<FloatType>(element)),
                     ArrayRef<int64_t>());
}

int64_t MultiplyAdd::columnsOfLine() const {
  int64_t bytes = group() * weight.getIntOrFloatBitWidth() / 8;
  return std::min(kLineBytes / bytes, kPanelColumns);
}

VectorType MultiplyAdd::accumulatorType(int64_t lanes) const {
  OpBuilder &builder = loops.builder;
  return VectorType::get(lanes, isOfIntegers() ? Type(builder.getI32Type())
                                               : Type(builder.getF32Type()));
}

VectorType MultiplyAdd::operandType(int64_t lanes) const {
  if (hasScales())
    return loops.vectorType(lanes);
  return VectorType::get(lanes * group(), element);
}

bool MultiplyAdd::takesUnsignedX() const {
  return isOfIntegers() && loops.isa.int8Dot == Int8Dot::Vnni;
}

Value MultiplyAdd::constant(Type type, int64_t value) const {
  auto vector = cast<VectorType>(type);
  Attribute number =
      isa<FloatType>(vector.getElementType())
          ? Attribute(FloatAttr::get(vector.getElementType(), double(value)))
          : IntegerAttr::get(vector.getElementType(), value);
  return arith::ConstantOp::create(loops.builder, loops.loc,
                                   DenseElementsAttr::get(vector, number));
}

Value MultiplyAdd::x86(StringRef intrinsic, Type result,
                       ValueRange operands) const {
  return LLVM::CallIntrinsicOp::create(
             loops.builder, loops.loc, result,
             loops.builder.getStringAttr("llvm.x86." + intrinsic), operands)
      .getResult(0);
}

Value MultiplyAdd::encode(Value x) const {
  if (!takesUnsignedX())
    return x;
  return loops.bitXor(x, constant(x.getType(), -128));
}

Value MultiplyAdd::start(Value panels, Value panel, Value column, int64_t lanes,
                         int64_t shift) const {
  VectorType type = accumulatorType(lanes);
  // What is multiplied is x + `added`.
  int64_t added = takesUnsignedX() ? kUnsignedShift : 0;
  if (shift == added)
    return constant(type, 0);
  // The first row of a panel: sums of columns, times -128.
  Value bytes = vector::LoadOp::create(
      loops.builder, loops.loc, operandType(lanes), panels,
      ValueRange{panel, loops.index(0), loops.mul(column, group())});
  Value start =
      vector::BitCastOp::create(loops.builder, loops.loc, type, bytes);
  if (added - shift == kUnsignedShift)
    return start;
  // Multiples of 128 shift without a remainder.
  Value negated =
      arith::ShRSIOp::create(loops.builder, loops.loc, start,
                             constant(type, llvm::Log2_64(kUnsignedShift)));
  return loops.mul(negated, constant(type, added - shift));
}

Value MultiplyAdd::flatten(Value groups) const {
  if (group() == 1)
    return groups;
  int64_t column = cast<MemRefType>(groups.getType()).getRank() - 2;
  SmallVector<ReassociationIndices> axes;
  for (int64_t axis = 0; axis < column; ++axis)
    axes.push_back({axis});
  axes.push_back({column, column + 1});
  return memref::CollapseShapeOp::create(loops.builder, loops.loc, groups,
                                         axes);
}

Value MultiplyAdd::firstGroupOf(Value block) const {
  return loops.mul(block, layout().rowsOfScale());
}

Value MultiplyAdd::loadScales(Value panels, Value panel, Value block,
                              Value column, int64_t lanes) const {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  // Two bytes each, in rows of as many as a panel has columns.
  constexpr int64_t ofRow = kPanelColumns / 2;
  Value row = loops.add(firstGroupOf(block), loops.udiv(column, ofRow));
  Value byte = loops.mul(loops.urem(column, ofRow), 2);
  Value bytes = vector::LoadOp::create(
      builder, loc, VectorType::get(2 * lanes, builder.getI8Type()), panels,
      ValueRange{panel, row, byte});
  Value halves = vector::BitCastOp::create(
      builder, loc, VectorType::get(lanes, builder.getI16Type()), bytes);
  Value words = arith::ExtUIOp::create(
      builder, loc, VectorType::get(lanes, builder.getI32Type()), halves);
  return loops.bitcastToF32(loops.shiftLeft(words, 16));
}

SmallVector<Value> MultiplyAdd::weightsAt(Value panel, Value groupNumber,
                                          Value column) const {
  return {panel, loops.add(groupNumber, layout().firstRow()),
          loops.mul(column, group())};
}

Value MultiplyAdd::loadWeights(Value panels, Value panel, Value groupNumber,
                               Value column, int64_t lanes) const {
  SmallVector<Value> at = weightsAt(panel, groupNumber, column);
  VectorType type = operandType(lanes);
  if (weight == element)
    return vector::LoadOp::create(loops.builder, loops.loc, type, panels, at);
  Value integers = vector::LoadOp::create(loops.builder, loops.loc,
                                          type.clone(weight), panels, at);
  return arith::SIToFPOp::create(loops.builder, loops.loc, type, integers);
}

void MultiplyAdd::fetchWeights(Value panels, Value panel, Value groupNumber,
                               Value column) const {
  memref::PrefetchOp::create(loops.builder, loops.loc, panels,
                             weightsAt(panel, groupNumber, column),
                             /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

void MultiplyAdd::fetchRows(Value panels, Value first, Value count) const {
  OpBuilder &builder = loops.builder;
  auto rows = memref::CollapseShapeOp::create(
      builder, loops.loc, panels, ArrayRef<ReassociationIndices>{{0, 1}, {2}});
  int64_t line = kLineBytes * 8 / weight.getIntOrFloatBitWidth();
  loops.each(loops.index(0), count, 1, [&](Value i) {
    Value row = loops.add(first, i);
    for (int64_t at = 0; at < rows.getType().getDimSize(1); at += line)
      memref::PrefetchOp::create(builder, loops.loc, rows,
                                 ValueRange{row, loops.index(at)},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
  });
}

Value MultiplyAdd::broadcast(Value x, ValueRange at, int64_t lanes,
                             bool isWhole) const {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  if (group() == 1) {
    Value one = loops.load(x, at);
    if (!element.isF32())
      one = heddle::widen(builder, loc, one);
    return loops.broadcast(one, lanes);
  }
  Type word = builder.getI32Type();
  if (isShortFloat(element) && !isWhole) {
    Value half = arith::BitcastOp::create(builder, loc, builder.getI16Type(),
                                          loops.load(x, at));
    Value bits = arith::ExtUIOp::create(builder, loc, word, half);
    return vector::BitCastOp::create(builder, loc, operandType(lanes),
                                     loops.broadcast(bits, lanes));
  }
  Value elements = vector::LoadOp::create(builder, loc, operandType(1), x, at);
  Value bits = vector::BitCastOp::create(builder, loc, VectorType::get(1, word),
                                         elements);
  Value scalar =
      vector::ExtractOp::create(builder, loc, bits, ArrayRef<int64_t>{0});
  return vector::BitCastOp::create(builder, loc, operandType(lanes),
                                   loops.broadcast(scalar, lanes));
}

/// The halves of words.
Value MultiplyAdd::widen(Value pairs, bool isOdd) const {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t lanes = cast<VectorType>(pairs.getType()).getNumElements() / group();
  auto words = VectorType::get(lanes, builder.getI32Type());
  Value bits = vector::BitCastOp::create(builder, loc, words, pairs);
  if (element.isF16()) {
    if (isOdd)
      bits = loops.shiftRight(bits, 16);
    Value halves = arith::TruncIOp::create(
        builder, loc, VectorType::get(lanes, builder.getI16Type()), bits);
    return loops.widen(loops.bitcast(halves, element));
  }
  constexpr int32_t upperHalf = 0xffff0000;
  bits = isOdd ? loops.bitAnd(bits, constant(words, upperHalf))
               : loops.shiftLeft(bits, 16);
  return loops.bitcastToF32(bits);
}

/// sums + x w, a pair of short floats a lane.
Value MultiplyAdd::addPairs(Value x, Value w, Value sums) const {
  auto type = cast<VectorType>(sums.getType());
  if (element.isBF16() && loops.isa.hasBf16)
    return x86(
        ("avx512bf16.dpbf16ps." + Twine(32 * type.getNumElements())).str(),
        type, {sums, x, w});
  for (bool isOdd : {true, false})
    sums = loops.fma(widen(x, isOdd), widen(w, isOdd), sums);
  return sums;
}

/// x, negative where w is, and anything where w is 0: per byte.
Value MultiplyAdd::withSignOf(Value w, Value x) const {
  auto type = cast<VectorType>(x.getType());
  // 512 bits have no such instruction, but masks.
  if (type.getNumElements() <= 32)
    return x86(type.getNumElements() == 32 ? "avx2.psign.b"
                                           : "ssse3.psign.b.128",
               type, {x, w});
  Value zero = constant(type, 0);
  Value isNegative = loops.less(w, zero);
  Value negated = loops.sub(zero, x);
  return loops.select(isNegative, negated, x);
}

/// x w, four signed bytes a lane. Their products fit 16 bits in pairs, since
/// |w| is at most 128 and x at most 127 in size.
Value MultiplyAdd::signedProducts(Value x, Value w) const {
  int64_t bytes = cast<VectorType>(w.getType()).getNumElements();
  Type pairs = VectorType::get(bytes / 2, loops.builder.getI16Type());
  Type sums = accumulatorType(bytes / group());
  StringRef multiplyBytes = bytes == 64   ? "avx512.pmaddubs.w.512"
                            : bytes == 32 ? "avx2.pmadd.ub.sw"
                                          : "ssse3.pmadd.ub.sw.128";
  StringRef addPairs = bytes == 64   ? "avx512.pmaddw.d.512"
                       : bytes == 32 ? "avx2.pmadd.wd"
                                     : "sse2.pmadd.wd";
  Value size = math::AbsIOp::create(loops.builder, loops.loc, w);
  Value products = x86(multiplyBytes, pairs, {size, withSignOf(w, x)});
  return x86(addPairs, sums, {products, constant(pairs, 1)});
}

Value MultiplyAdd::multiplyAdd(Value x, Value w, Value sums) const {
  if (element.isF32() || hasScales())
    return sums ? loops.fma(x, w, sums) : loops.mul(x, w);
  int64_t lanes = cast<VectorType>(w.getType()).getNumElements() / group();
  VectorType type = accumulatorType(lanes);
  if (isShortFloat(element))
    return addPairs(x, w, sums ? sums : constant(type, 0));
  if (takesUnsignedX())
    return x86(("avx512.vpdpbusd." + Twine(32 * lanes)).str(), type,
               {sums ? sums : constant(type, 0), x, w});
  Value products = signedProducts(x, w);
  if (!sums)
    return products;
  return loops.add(products, sums);
}

Value MultiplyAdd::multiplyAddInside(Value x, Value w, Value sums,
                                     Value inside) const {
  if (group() == 1)
    return loops.select(inside, multiplyAdd(x, w, sums), sums);
  // A lane is inside with one element and outside with the other.
  Value bits = loops.bitcast(x, loops.builder.getI16Type());
  Value chosen = loops.select(inside, bits, constant(bits.getType(), 0));
  return multiplyAdd(loops.bitcast(chosen, element), w, sums);
}

Value MultiplyAdd::addElements(Value x, Value sums) const {
  if (group() == 1)
    return loops.add(sums, x);
  return multiplyAdd(x, constant(x.getType(), 1), sums);
}
