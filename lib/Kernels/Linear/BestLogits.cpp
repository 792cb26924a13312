//===- BestLogits.cpp - Vector code of best_logits ------------------------===//
//
// A chunk of a row is read three times: for its maximum; for the sum of
// exponentials, after the earlier sum is scaled to the new maximum; and for
// candidates, but only if the maximum exceeds the lowest of the best so far.
// Few vectors hold a candidate: these are searched lane by lane.
//
// Sums have one order on every level: a lane for each column of a panel, then a
// tree.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/BestLogits.h"
#include "lib/CodeGen/Loops/RankedList.h"
#include "lib/Kernels/Linear/RangedLogits.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();
static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr double kLog2E = 1.4426950408889634;
/// Stands for a maximum of -inf, of which no difference is a number.
static constexpr float kLowestNumber = std::numeric_limits<float>::lowest();

namespace {
class BestLogitsBuilder : public RangedLogits {
public:
  BestLogitsBuilder(BestLogitsOp op, TileLoops &loops, bool isFetched)
      : RangedLogits(op, loops, isFetched), maxima(op.getDestinations()[0]),
        sums(op.getDestinations()[1]),
        list{op.getDestinations()[2], op.getDestinations()[3]},
        math(loops.builder, loops.loc, loops.isa) {}

protected:
  void startRow(Value row) override {
    loops.store(loops.f32(kLowest), maxima, {row, range});
    loops.store(loops.f32(0), sums, {row, range});
    list.clear({row, range}, loops);
  }
  void takeRow(const Chunk &chunk, Value r) override;
  void finishRow(Value row) override;

private:
  void addExponentials(const Chunk &chunk, Value r, Value most, ValueRange at);
  Value sumOf(const Chunk &chunk, Value r, Value base);
  /// Whether a vector has a lane for each of the best.
  Value fitVector() {
    return loops.lessOrEqual(loops.lastSize(list.values),
                             loops.index(loops.isa.lanes));
  }
  void insertBest(const Chunk &chunk, Value r, ValueRange at);
  void insertIntoVector(const Chunk &chunk, Value r, ValueRange at);
  void insertIntoList(const Chunk &chunk, Value r, ValueRange at);
  SmallVector<Value> insertLanes(const Chunk &chunk, ArrayRef<Value> place,
                                 ValueRange best);
  SmallVector<Value> insertLogit(ValueRange best, Value logit, Value id);

  Value maxima, sums;
  RankedList list;
  VectorMath math;
};
} // namespace

void BestLogitsBuilder::takeRow(const Chunk &chunk, Value r) {
  SmallVector<Value> at = {loops.add(chunk.row, r), range};
  loops.ifThen(sumsLeaveOutForbidden(at.front()), [&] { forbid(chunk, r); });
  Value most = maximum(chunk, r);
  addExponentials(chunk, r, most, at);
  // The last of the best stands first or last.
  Value last = loops.add(loops.lastSize(list.values), -1);
  Value place = loops.select(fitVector(), loops.index(0), last);
  Value bound = loops.load(list.values, append(at, place));
  loops.ifThen(loops.greater(most, bound), [&] {
    forbid(chunk, r);
    insertBest(chunk, r, at);
  });
}

/// Adds a chunk to the sum of a row, whose maximum may become that of the
/// chunk.
void BestLogitsBuilder::addExponentials(const Chunk &chunk, Value r, Value most,
                                        ValueRange at) {
  Value old = loops.load(maxima, at);
  Value now = loops.selectMax(most, old);
  Value base = loops.selectMax(now, loops.f32(kLowestNumber));
  // Exactly 1 where the maximum stays.
  Value scale = math.exp(loops.sub(old, base));
  loops.store(loops.fma(loops.load(sums, at), scale, sumOf(chunk, r, base)),
              sums, at);
  loops.store(now, maxima, at);
}

/// The sum of e^(l - base) over a chunk.
Value BestLogitsBuilder::sumOf(const Chunk &chunk, Value r, Value base) {
  int64_t lanes = loops.isa.lanes, vectors = kPanelColumns / lanes;
  Value all = loops.broadcast(base, lanes);
  Value toBinary = loops.f32(kLog2E, lanes);
  SmallVector<Value> totals(vectors, loops.f32(0, lanes));
  totals = loops.carry(chunk.begin, chunk.end, kPanelColumns, totals,
                       [&](Value c, ValueRange carried) {
                         SmallVector<Value> next;
                         for (auto [v, total] : llvm::enumerate(carried)) {
                           Value l = logitsAt(r, loops.add(c, v * lanes));
                           Value power = loops.mul(loops.sub(l, all), toBinary);
                           next.push_back(loops.add(total, math.exp2(power)));
                         }
                         return next;
                       });
  for (size_t half = totals.size() / 2; half > 0; half /= 2)
    for (size_t v = 0; v < half; ++v)
      totals[v] = loops.add(totals[v], totals[v + half]);
  return vector::ExtractOp::create(loops.builder, loops.loc,
                                   loops.reduceAdd(totals.front()), 0);
}

void BestLogitsBuilder::insertBest(const Chunk &chunk, Value r, ValueRange at) {
  loops.ifElse(
      fitVector(), [&] { insertIntoVector(chunk, r, at); },
      [&] { insertIntoList(chunk, r, at); });
}

void BestLogitsBuilder::insertIntoVector(const Chunk &chunk, Value r,
                                         ValueRange at) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t lanes = loops.isa.lanes;
  auto integers = VectorType::get(lanes, builder.getI32Type());
  Value isThere = vector::CreateMaskOp::create(
      builder, loc, VectorType::get(lanes, builder.getI1Type()),
      loops.lastSize(list.values));
  SmallVector<Value> first = append(at, loops.index(0));
  Value values = vector::MaskedLoadOp::create(
      builder, loc, loops.vectorType(lanes), list.values, first, isThere,
      loops.f32(kInfinity, lanes));
  Value ids = vector::MaskedLoadOp::create(
      builder, loc, integers, list.ids, first, isThere,
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(integers)));
  SmallVector<Value> best =
      loops.carry(chunk.begin, chunk.end, lanes, {values, ids},
                  [&](Value c, ValueRange carried) {
                    return insertLanes(chunk, {r, c}, carried);
                  });
  vector::MaskedStoreOp::create(builder, loc, list.values, first, isThere,
                                best[0]);
  vector::MaskedStoreOp::create(builder, loc, list.ids, first, isThere,
                                best[1]);
}

/// Inserts what of the vector of logits at `place` belongs to the best: values
/// and ids. What is no better any more, once others are there, changes nothing.
SmallVector<Value> BestLogitsBuilder::insertLanes(const Chunk &chunk,
                                                  ArrayRef<Value> place,
                                                  ValueRange best) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t lanes = loops.isa.lanes;
  Value bound = vector::ExtractOp::create(builder, loc, best[0], 0);
  Value isAbove = loops.greater(logitsAt(place[0], place[1]),
                                loops.broadcast(bound, lanes));
  Type word = builder.getIntegerType(lanes);
  Value left = vector::ExtractOp::create(
      builder, loc,
      vector::BitCastOp::create(builder, loc, VectorType::get(1, word),
                                isAbove),
      0);
  SmallVector<Value> inserted = loops.repeat(
      {left, best[0], best[1]},
      [&](ValueRange carried) -> Value {
        return loops.notEqual(carried[0], loops.constant(0, carried[0]));
      },
      [&](ValueRange carried) -> SmallVector<Value> {
        Value lane = arith::IndexCastUIOp::create(
            builder, loc, builder.getIndexType(),
            math::CountTrailingZerosOp::create(builder, loc, carried[0]));
        Value column = loops.add(place[1], lane);
        Value logit = loops.load(scratch, {place[0], column});
        Value id = loops.toI32(loops.add(chunk.first, column));
        SmallVector<Value> next = insertLogit(carried.drop_front(), logit, id);
        Value others = loops.bitAnd(
            carried[0], loops.sub(carried[0], loops.constant(1, carried[0])));
        return {others, next[0], next[1]};
      });
  return {inserted[1], inserted[2]};
}

/// Moves what is below a logit one lane down, the lowest one out, and sets it
/// on top of them.
SmallVector<Value> BestLogitsBuilder::insertLogit(ValueRange best, Value logit,
                                                  Value id) {
  int64_t lanes = loops.isa.lanes;
  SmallVector<int64_t> above(lanes);
  std::iota(above.begin(), above.end(), 1);
  Value all = loops.broadcast(logit, lanes);
  Value values = best[0], ids = best[1];
  Value valuesAbove = loops.shuffle(values, loops.f32(kInfinity, lanes), above);
  Value idsAbove = loops.shuffle(ids, ids, above);
  Value isBelow = loops.greater(all, values),
        isBelowAbove = loops.greater(all, valuesAbove);
  auto insert = [&](Value mine, Value others, Value one) {
    return loops.select(isBelow, loops.select(isBelowAbove, others, one), mine);
  };
  return {insert(values, valuesAbove, all),
          insert(ids, idsAbove, loops.broadcast(id, lanes))};
}

void BestLogitsBuilder::insertIntoList(const Chunk &chunk, Value r,
                                       ValueRange at) {
  int64_t lanes = loops.isa.lanes;
  loops.each(chunk.begin, chunk.end, lanes, [&](Value c) {
    Value bound = loops.broadcast(list.bound(at, loops), lanes);
    Value isAbove = loops.any(loops.greater(logitsAt(r, c), bound));
    loops.ifThen(isAbove, [&] {
      loops.loop(loops.index(lanes), [&](Value lane) {
        Value column = loops.add(c, lane);
        Value logit = loops.load(scratch, {r, column});
        loops.ifThen(loops.greater(logit, list.bound(at, loops)), [&] {
          Value id = loops.toI32(loops.add(chunk.first, column));
          list.insert(logit, id, at, loops);
        });
      });
    });
  });
}

/// Turns round what has been a vector.
void BestLogitsBuilder::finishRow(Value row) {
  Value best = loops.lastSize(list.values);
  auto swap = [&](Value memref, Value lower, Value upper) {
    SmallVector<Value> low = {row, range, lower}, high = {row, range, upper};
    Value first = loops.load(memref, low), last = loops.load(memref, high);
    loops.store(last, memref, low);
    loops.store(first, memref, high);
  };
  loops.ifThen(fitVector(), [&] {
    loops.loop(loops.udiv(best, 2), [&](Value place) {
      Value other = loops.sub(loops.add(best, -1), place);
      swap(list.values, place, other);
      swap(list.ids, place, other);
    });
  });
}

void heddle::tileBestLogits(BestLogitsOp op, TileLoops &loops, bool isFetched) {
  BestLogitsBuilder(op, loops, isFetched).build();
}
