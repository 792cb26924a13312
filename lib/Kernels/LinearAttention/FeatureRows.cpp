//===- FeatureRows.cpp - Vector by vector along a head --------------------===//
//
// Short floats are widened, and the features of each vector are stored as f32.
// `taylor` needs the norm of the row first: the sum of squares takes a pass of
// its own, in the order that RowKernel has for all rows. The row is multiplied
// by 1 / |x|, one division in place of one per element, and a row of zeros by
// 0. The last feature of `taylor` is 1: it gives the constant of e^s ~ 1 + s.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearAttention/FeatureRows.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "lib/Kernels/Attention/LaneRegion.h"
#include "lib/Kernels/Rows/ActivationKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

Value heddle::loadAsF32(VectorLoops &loops, Value memref, ValueRange at,
                        int64_t count) {
  Value x = loops.loadFirst(memref, at, count, loops.isa.lanes);
  return elementOf(memref).isF32() ? x : widen(loops.builder, loops.loc, x);
}

/// 1 / |x|, 0 of zeros.
Value FeatureRows::inverseNorm(Value rows, Value from) {
  Value squares =
      kernel.sumOfRow(width, [&](Value sum, const Slice &slice) -> Value {
        int64_t count = slice.mask ? width % loops.isa.lanes : loops.isa.lanes;
        Value x = loadAsF32(loops, rows, {from, slice.column}, count);
        return loops.fma(x, x, sum);
      });
  Value zero = loops.f32(0);
  Value isZero = loops.equal(squares, zero);
  Value norm = math::SqrtOp::create(loops.builder, loops.loc, squares);
  return loops.select(isZero, zero, loops.div(loops.f32(1), norm));
}

Value FeatureRows::feature(Value x, Value inverse) {
  int64_t lanes = loops.isa.lanes;
  switch (features) {
  case FeatureMap::Elu:
    return loops.select(loops.greater(x, loops.f32(0, lanes)),
                        loops.add(x, loops.f32(1, lanes)), kernel.math.exp(x));
  case FeatureMap::Relu:
    return emitActivation(ActivationKind::Relu, x, kernel.math);
  case FeatureMap::Taylor:
    return loops.mul(x, loops.broadcast(inverse, lanes));
  case FeatureMap::Region: {
    LaneRegion region(map, lanes);
    region.bind(loops, /*argument=*/0, x);
    return region.result(loops);
  }
  }
  llvm_unreachable("all maps are covered");
}

void FeatureRows::store(Value rows, Value from, Value result, Value to) {
  bool isTaylor = features == FeatureMap::Taylor;
  Value inverse = isTaylor ? inverseNorm(rows, from) : Value();
  forEachPart(loops.isa.lanes, width, [&](int64_t begin, int64_t count) {
    Value column = loops.index(begin);
    Value x = loadAsF32(loops, rows, {from, column}, count);
    loops.storeFirst(feature(x, inverse), result, {to, column}, count);
  });
  if (isTaylor)
    loops.store(loops.f32(1), result, {to, loops.index(width)});
}
