#include "lib/Kernels/OnlineState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

Value heddle::outsideMask(VectorLoops &loops, int64_t width) {
  return loops.splat(-0.0, width);
}

Value heddle::insideMask(VectorLoops &loops, Value weights) {
  int64_t width = cast<VectorType>(weights.getType()).getNumElements();
  auto bits = VectorType::get(width, loops.builder.getI32Type());
  // As numbers both zeros are equal.
  auto toBits = [&](Value value) {
    return arith::BitcastOp::create(loops.builder, loops.loc, bits, value);
  };
  return arith::CmpIOp::create(loops.builder, loops.loc,
                               arith::CmpIPredicate::ne, toBits(weights),
                               toBits(outsideMask(loops, width)));
}

std::pair<Value, Value> heddle::fullPart(VectorLoops &loops, Value begin,
                                         Value end, Value fullBegin,
                                         Value fullEnd) {
  Value from = loops.clamp(fullBegin, begin, end);
  return {from, loops.clamp(fullEnd, from, end)};
}

Value heddle::reciprocal(VectorLoops &loops, Value total) {
  int64_t width = cast<VectorType>(total.getType()).getNumElements();
  Value zero = loops.splat(0, width);
  Value isEmpty = arith::CmpFOp::create(loops.builder, loops.loc,
                                        arith::CmpFPredicate::OEQ, total, zero);
  return loops.choose(isEmpty, zero, loops.div(loops.splat(1, width), total));
}
