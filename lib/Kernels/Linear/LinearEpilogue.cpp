//===- LinearEpilogue.cpp - From a sum to a stored result -----------------===//
//
// A vector passes all steps in registers: scales, bias, activation, residual,
// and then the rounding. The scales of x and W are multiplied first and then
// applied to the sum. If the result is bf16 right behind the activation, a
// shorter activation does, since the rounding hides its error. In a partial
// tile a mask keeps each load and store off the columns behind the last one.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearEpilogue.h"
#include "dialect/linear/GatedColumns.h"
#include "lib/Kernels/Rows/ActivationKernel.h"
#include "lib/Kernels/Rows/QuantizeKernel.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// The lanes from `column` on that are columns of `rows`.
static Value columnMask(Value rows, Value column, VectorType type,
                        VectorLoops &loops) {
  Value left = loops.sub(loops.lastSize(rows), column);
  return vector::CreateMaskOp::create(loops.builder, loops.loc,
                                      type.clone(loops.builder.getI1Type()),
                                      ValueRange{left});
}

/// Those that `mask` lets through, which may be null.
static Value loadLanes(Value memref, ValueRange at, VectorType type, Value mask,
                       VectorLoops &loops) {
  int64_t lanes = type.getNumElements();
  if (!mask)
    return loops.loadVector(memref, at, lanes);
  return vector::MaskedLoadOp::create(loops.builder, loops.loc, type, memref,
                                      at, mask, loops.f32(0, lanes));
}

/// x W + b, of sums that may be integers.
Value LinearEpilogue::withBias(Value sum, Value row, Value column, Value mask,
                               VectorLoops &loops) const {
  int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  VectorType type = loops.vectorType(lanes);
  Value y = sum;
  if (weightScales) {
    Value scale = loadLanes(weightScales, column, type, mask, loops);
    if (inputScales)
      scale = loops.mul(loops.broadcast(loops.load(inputScales, row), lanes),
                        scale);
    y = loops.mul(arith::SIToFPOp::create(loops.builder, loops.loc, type, sum),
                  scale);
  }
  if (bias)
    y = loops.add(y, loadLanes(bias, column, type, mask, loops));
  return y;
}

/// The lanes of two vectors that are not their gates', or those that are.
static Value takeGated(Value first, Value second, bool isGate,
                       VectorLoops &loops) {
  int64_t lanes = cast<VectorType>(first.getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < 2 * lanes; ++lane)
    if (lane / kGatedColumns % 2 == int64_t(isGate))
      order.push_back(lane);
  return loops.shuffle(first, second, order);
}

void LinearEpilogue::finish(ValueRange sums, Value row, Value column,
                            VectorLoops &loops) const {
  OpBuilder &builder = loops.builder;
  int64_t lanes = cast<VectorType>(sums.front().getType()).getNumElements();
  VectorType type = loops.vectorType(lanes);
  Value mask =
      isPartial ? columnMask(destination, column, type, loops) : Value();
  Value y = withBias(sums.front(), row, column, mask, loops), other;
  if (isGatedByColumns()) {
    Value next =
        withBias(sums.back(), row, loops.add(column, lanes), mask, loops);
    other = takeGated(y, next, /*isGate=*/true, loops);
    y = takeGated(y, next, /*isGate=*/false, loops);
    column = loops.udiv(column, 2);
  } else if (residual) {
    other = loadLanes(residual, {row, column}, type, mask, loops);
  }
  VectorMath math(builder, loops.loc, loops.isa);
  Type element = cast<MemRefType>(destination.getType()).getElementType();
  if (activation)
    y = element.isBF16() && !other ? emitShortActivation(*activation, y, math)
                                   : emitActivation(*activation, y, math);
  if (other)
    y = gates ? loops.mul(y, other) : loops.add(other, y);
  if (multiplier) {
    Value factor = loops.load(multiplier, loops.index(0));
    y = loops.mul(y, loops.broadcast(factor, lanes));
    y = MultiplyAdd(loops, builder.getI8Type())
            .encode(roundToIntegers(y, math));
  } else if (isShortFloat(element)) {
    y = roundTo(element, y, math);
  }
  if (mask)
    vector::MaskedStoreOp::create(builder, loops.loc, destination,
                                  ValueRange{row, column}, mask, y);
  else
    loops.storeVector(y, destination, {row, column});
}

void heddle::emitLinearFinish(LinearFinishOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t lanes = std::min<int64_t>(isa.lanes, op.getColumns());
  LinearEpilogue epilogue = epilogueOf(op);
  VectorType type =
      VectorType::get(lanes, op.getSums().getType().getElementType());
  loops.each(loops.index(0), op.getRows(), 1, [&](Value r) {
    Value row = loops.add(op.getRow(), r);
    int64_t step = epilogue.vectors() * lanes;
    loops.each(
        loops.index(0), loops.index(op.getColumns()), step, [&](Value c) {
          SmallVector<Value> sums;
          for (int64_t v = 0; v < step; v += lanes)
            sums.push_back(
                vector::LoadOp::create(builder, op.getLoc(), type, op.getSums(),
                                       ValueRange{r, loops.add(c, v)}));
          epilogue.finish(sums, row, loops.add(op.getColumn(), c), loops);
        });
  });
}
