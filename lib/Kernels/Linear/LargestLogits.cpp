//===- LargestLogits.cpp - Vector code of largest_logits ------------------===//
//
// The maximum of so many logits is found without their ids. Few of them are
// larger than all before: only then a second pass looks where it stands.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LargestLogits.h"
#include "lib/Kernels/Linear/RangedLogits.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();

namespace {
class LargestLogitsBuilder : public RangedLogits {
public:
  LargestLogitsBuilder(LargestLogitsOp op, TileLoops &loops, bool isFetched)
      : RangedLogits(op, loops, isFetched), values(op.getDestinations()[0]),
        ids(op.getDestinations()[1]) {}

protected:
  void startRow(Value row) override {
    loops.store(loops.f32(kLowest), values, {row, range});
    loops.store(loops.i32(-1), ids, {row, range});
  }
  void takeRow(const Chunk &chunk, Value r) override;

private:
  void storeFirst(const Chunk &chunk, Value r, Value value, ValueRange at);
  void storeNaN(const Chunk &chunk, Value r, ValueRange at);

  Value values, ids;
};
} // namespace

void LargestLogitsBuilder::takeRow(const Chunk &chunk, Value r) {
  forbid(chunk, r);
  SmallVector<Value> at = {loops.add(chunk.row, r), range};
  Value most = maximum(chunk, r);
  Value hasNone = loops.less(loops.load(ids, at), loops.i32(0));
  Value bound =
      loops.select(hasNone, loops.f32(kLowest), loops.load(values, at));
  loops.ifElse(
      loops.greater(most, bound), [&] { storeFirst(chunk, r, most, at); },
      [&] { loops.ifThen(hasNone, [&] { storeNaN(chunk, r, at); }); });
}

/// Stores `value` and the first id of a row that has it.
void LargestLogitsBuilder::storeFirst(const Chunk &chunk, Value r, Value value,
                                      ValueRange at) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t lanes = loops.isa.lanes;
  auto all = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(
        builder, loc, VectorType::get(lanes, builder.getI32Type()), scalar);
  };
  Value none = all(loops.i32(std::numeric_limits<int32_t>::max()));
  Value wanted = loops.broadcast(value, lanes), counted = loops.iota(0, lanes);
  Value first =
      loops
          .carry(chunk.begin, chunk.end, lanes, none,
                 [&](Value c, ValueRange carried) -> SmallVector<Value> {
                   Value isThere = loops.equal(logitsAt(r, c), wanted);
                   Value column = loops.add(counted, all(loops.toI32(c)));
                   return {loops.min(carried.front(),
                                     loops.select(isThere, column, none))};
                 })
          .front();
  Value column = vector::ReductionOp::create(
      builder, loc, vector::CombiningKind::MINSI, first);
  loops.store(value, values, at);
  loops.store(loops.add(column, loops.toI32(chunk.first)), ids, at);
}

/// Stores NaN if a logit of a row is no number.
void LargestLogitsBuilder::storeNaN(const Chunk &chunk, Value r,
                                    ValueRange at) {
  int64_t lanes = loops.isa.lanes;
  Value last = loops
                   .carry(chunk.begin, chunk.end, lanes, loops.f32(0, lanes),
                          [&](Value c, ValueRange carried) {
                            Value l = logitsAt(r, c);
                            return SmallVector<Value>{loops.select(
                                loops.notEqual(l, l), l, carried.front())};
                          })
                   .front();
  loops.ifThen(loops.any(loops.notEqual(last, last)), [&] {
    loops.store(loops.f32(std::numeric_limits<float>::quiet_NaN()), values, at);
  });
}

void heddle::tileLargestLogits(LargestLogitsOp op, TileLoops &loops,
                               bool isFetched) {
  LargestLogitsBuilder(op, loops, isFetched).build();
}
