//===- QuantizeKernel.cpp - Kernels of quantize ---------------------------===//
//
// A scale needs all of its row: a row is read twice, from a cache the second
// time. Magnitudes are compared as integers, whose order is that of numbers
// with infinity and what is no number above them, so that one comparison does.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/QuantizeKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

Value heddle::roundToIntegers(Value x, const VectorMath &math) {
  OpBuilder &builder = math.builder;
  Location loc = math.loc;
  auto floats = cast<VectorType>(x.getType());
  VectorType integers = floats.clone(builder.getI32Type());
  Value most = math.constant(QuantizeOp::kMost, x);
  Value least = math.constant(-QuantizeOp::kMost, x);
  // One instruction each; the second operand where the first is no number.
  Value atMost = math.select(math.less(x, most), x, most);
  Value clipped = math.select(math.greater(atMost, least), atMost, least);
  Value rounded = arith::FPToSIOp::create(
      builder, loc, integers, math::RoundEvenOp::create(builder, loc, clipped));
  Value isNumber =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
  Value kept = math.select(isNumber, rounded, math.constant(0, rounded));
  return arith::TruncIOp::create(builder, loc,
                                 floats.clone(builder.getI8Type()), kept);
}

/// The largest magnitude of a row, as a scalar f32; what is no number if there
/// is one.
static Value mostOfRow(RowKernel &kernel, Value input, Value row) {
  OpBuilder &builder = kernel.loops.builder;
  Location loc = kernel.loops.loc;
  auto type = VectorType::get(kernel.isa.lanes, builder.getI32Type());
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, value));
  };
  constexpr int32_t magnitudeBits = 0x7fffffff;
  int64_t width = cast<MemRefType>(input.getType()).getDimSize(1);
  Value most = constant(0);
  auto raise = [&](Value most, const Slice &slice) -> Value {
    Value bits = vector::BitCastOp::create(builder, loc, type,
                                           kernel.load(input, row, slice));
    return kernel.loops.max(most,
                            kernel.loops.bitAnd(bits, constant(magnitudeBits)));
  };
  int64_t lanes = kernel.isa.lanes, whole = width / lanes * lanes;
  if (whole > 0)
    most = scf::ForOp::create(
               builder, loc, kernel.loops.index(0), kernel.loops.index(whole),
               kernel.loops.index(lanes), most,
               [&](OpBuilder &, Location, Value column, ValueRange carried) {
                 scf::YieldOp::create(
                     builder, loc,
                     raise(carried.front(), {column, lanes, Value()}));
               })
               .getResult(0);
  if (whole < width)
    most = raise(most, kernel.slicesOf(width).back());
  return kernel.loops.bitcastToF32(vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::MAXSI, most));
}

static Value scaleOfRow(RowKernel &kernel, Value input, Value row) {
  Loops &loops = kernel.loops;
  Value most = mostOfRow(kernel, input, row);
  Value isZero = loops.equal(most, loops.f32(0));
  return loops.select(isZero, loops.f32(1),
                      loops.div(most, loops.f32(QuantizeOp::kMost)));
}

/// x R of a vector of whole blocks. What stands at a place is added to what
/// stands at the same place of the other half, or taken from it.
static Value rotate(Value x, int64_t block, Loops &loops) {
  auto type = cast<VectorType>(x.getType());
  auto signs = [&](function_ref<bool(int64_t)> isNegated) -> Value {
    SmallVector<float> values;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      values.push_back(isNegated(i) ? -1 : 1);
    return arith::ConstantOp::create(
        loops.builder, loops.loc,
        DenseElementsAttr::get(type, ArrayRef(values)));
  };
  // Products by 1 and -1 are exact.
  if (block > 1)
    x = loops.mul(
        x, signs([&](int64_t i) { return isNegatedByRotation(i % block); }));
  for (int64_t distance = 1; distance < block; distance *= 2) {
    SmallVector<int64_t> others;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      others.push_back(i ^ distance);
    Value other =
        vector::ShuffleOp::create(loops.builder, loops.loc, x, x, others);
    Value sign = signs([&](int64_t i) { return (i & distance) != 0; });
    x = loops.fma(x, sign, other);
  }
  return x;
}

/// A row of the input, rotated, in memory of the task: [1, width].
static Value rotateRow(RowKernel &kernel, Value input, Value row) {
  Loops &loops = kernel.loops;
  auto type = cast<MemRefType>(input.getType());
  int64_t width = type.getDimSize(1), block = rotationOf(width);
  Value rotated =
      loops.scratch(MemRefType::get({1, width}, type.getElementType()));
  kernel.forEachSlice(
      kernel.widthOf(input),
      [&](const Slice &slice) {
        kernel.store(rotate(kernel.load(input, row, slice), block, loops),
                     rotated, loops.index(0), slice);
      },
      std::max(block, kernel.isa.lanes));
  return rotated;
}

void heddle::quantizeRow(RowKernel &kernel, Value input, Value row,
                         const IntegerRows &output) {
  Loops &loops = kernel.loops;
  Value place = row;
  if (output.areRotated) {
    input = rotateRow(kernel, input, row);
    place = loops.index(0);
  }
  VectorLoops vectors(loops.builder, loops.loc, kernel.isa);
  MultiplyAdd product(vectors, loops.builder.getI8Type());
  Value scale, multiplier;
  if (output.scales)
    loops.store(scale = scaleOfRow(kernel, input, place), output.scales, row);
  else
    multiplier = loops.load(output.multiplier, loops.index(0));
  kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
    Value x = kernel.load(input, place, slice);
    x = scale ? loops.div(x, kernel.broadcast(scale, slice))
              : loops.mul(x, kernel.broadcast(multiplier, slice));
    Value integers = roundToIntegers(x, kernel.math);
    kernel.store(output.areMultiplied ? product.encode(integers) : integers,
                 output.integers, row, slice);
  });
}

/// Column `number` of [rows, columns], as [rows].
static Value columnOf(VectorLoops &loops, Value memref, Value number) {
  OpBuilder &builder = loops.builder;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {zero, number};
  SmallVector<OpFoldResult> sizes = {loops.size(memref, 0), one};
  SmallVector<OpFoldResult> strides = {one, one};
  auto type = cast<MemRefType>(memref.getType());
  MemRefType column = memref::SubViewOp::inferRankReducedResultType(
      type.getDimSize(0), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loops.loc, column, memref, offsets,
                                   sizes, strides);
}

void heddle::emitKernel(QuantizeHeadsOp op, RowKernel &kernel) {
  VectorLoops loops(kernel.loops.builder, kernel.loops.loc, kernel.isa);
  Value input = kernel.rowsOf(op.getInput()),
        integers = kernel.rowsOf(op.getDestinations().front()),
        scales = kernel.rowsOf(op.getDestinations().back());
  int64_t width = *getConstantIntValue(kernel.widthOf(input)),
          ofHead = width / op.getHeads();
  kernel.forEachRow(loops.size(input, 0), 4 * width, [&](Value row) {
    loops.loop(loops.index(op.getHeads()), [&](Value head) {
      auto headOf = [&](Value rows) {
        return headRows(loops, rows, /*batch=*/Value(), head, ofHead);
      };
      IntegerRows output{headOf(integers), columnOf(loops, scales, head),
                         /*multiplier=*/Value(), /*areRotated=*/false,
                         /*areMultiplied=*/false};
      quantizeRow(kernel, headOf(input), row, output);
    });
  });
}

void heddle::emitKernel(QuantizeOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  IntegerRows output{kernel.rowsOf(op.getDestinations().front()),
                     op.getScales() ? kernel.flatten(op.getScales()) : Value(),
                     op.getMultiplier(), op.getRotated()};
  int64_t work = 4 * *getConstantIntValue(kernel.widthOf(input));
  kernel.forEachRow(kernel.loops.size(input, 0), work, [&](Value row) {
    quantizeRow(kernel, input, row, output);
  });
}
