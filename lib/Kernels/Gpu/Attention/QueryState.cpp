//===- QueryState.cpp - A query of attention between keys -----------------===//
//
// Total and sums are relative to the largest score so far. A larger score
// multiplies them by a factor of at most 1 (GpuQueryLoops::growthOf). A query
// that sees no key has a total of 0: its result is 0, not the NaN of 0 / 0.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Attention/QueryState.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include <limits>

using namespace mlir;
using namespace heddle;

QueryState QueryState::start(int64_t sums, BlockCode &code) {
  // A softmax of nothing has a maximum that any score is above, and 0 is as
  // good as any for -inf.
  return {code.f32(std::numeric_limits<float>::lowest()), code.f32(0),
          SmallVector<Value>(sums, code.f32(0))};
}

QueryState QueryState::of(ValueRange values) {
  return {values[0], values[1], llvm::to_vector(values.drop_front(2))};
}

SmallVector<Value> QueryState::values() const {
  SmallVector<Value> all = {maximum, total};
  all.append(sums);
  return all;
}

QueryState QueryState::raisedTo(Value larger, GpuQueryLoops &query,
                                BlockCode &code) const {
  Value factor = query.growthOf(maximum, larger);
  QueryState after = {larger, code.mul(total, factor), {}};
  for (Value sum : sums)
    after.sums.push_back(code.mul(sum, factor));
  return after;
}

Value heddle::resultOf(AttentionOp op, Value sum, Value total,
                       BlockCode &code) {
  auto quotient = [&]() -> Value {
    // A softmax's total is near 1 or above: one division serves a row.
    if (op.getNormalizer() == Normalizer::Softmax)
      return code.mul(sum, code.div(code.f32(1), total));
    return code.div(sum, total);
  };
  Value result = sum;
  if (op.getNormalizer() != Normalizer::None)
    result =
        code.select(code.equal(total, code.f32(0)), code.f32(0), quotient());
  std::optional<Type> rounded = op.getRounds();
  return rounded ? roundTo(*rounded, code.builder, code.loc, result) : result;
}
