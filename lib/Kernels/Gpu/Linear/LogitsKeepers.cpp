//===- LogitsKeepers.cpp - What is kept of a row's logits -----------------===//
//
// A warp leaves a record of each tile of a row: the largest logit, or a
// maximum, a sum of exponentials and a list of the best. Records meet in the
// order of their ids, so that no bit depends on which block came first.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Linear/LogitsKeepers.h"
#include "dialect/masks/MaskRanges.h"
#include "lib/Kernels/Gpu/Linear/TileRanking.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/artifact/ArtifactFormat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace heddle;

/// The exponential of a difference of two numbers, of which -inf may be one.
static Value expOf(BlockCode &code, Value x) {
  return math::ExpOp::create(code.builder, code.loc, x);
}
static Value isNoNumber(BlockCode &code, Value x) {
  return arith::CmpFOp::create(code.builder, code.loc,
                               arith::CmpFPredicate::UNO, x, x);
}

/// carried = add(carried, record) of every 32nd record, from the lane's on.
static SmallVector<Value>
foldRecords(const TileRecords &records, ValueRange none, BlockCode &code,
            function_ref<SmallVector<Value>(ValueRange, Value)> add) {
  auto loop = scf::ForOp::create(
      code.builder, code.loc, code.lane(), records.count,
      code.i32(kWarpThreads), none,
      [&](OpBuilder &, Location, Value number, ValueRange now) {
        scf::YieldOp::create(code.builder, code.loc,
                             add(now, records.at(number, code)));
      });
  return llvm::to_vector(ValueRange(loop.getResults()));
}

/// Writes a value and an id.
static void storePair(Value value, Value id, Value to, BlockCode &code) {
  code.storeOne(value, to);
  code.storeOne(id, code.at(to, 4));
}

//===----------------------------------------------------------------------===//
// The largest
//===----------------------------------------------------------------------===//

void LargestKeeper::keep(const TileLogits &tile, Value, Value, Value record,
                         BlockCode &code) {
  TileRanking ranking(tile, code);
  TileRanking::First first = ranking.first(ranking.keys());
  // What is no number is a value only where there is no id.
  Value hasNoNumber;
  for (auto [number, logit] : llvm::enumerate(tile.logits)) {
    Value counts = code.logicalAnd(
        isNoNumber(code, logit), code.logicalNot(ranking.isForbidden(number)));
    hasNoNumber = hasNoNumber ? code.logicalOr(hasNoNumber, counts) : counts;
  }
  Value none = code.select(code.equal(code.vote(hasNoNumber), code.i32(0)),
                           code.f32(kLowestLogit),
                           code.f32(std::numeric_limits<double>::quiet_NaN()));
  code.ifThen(first.writes, [&] {
    storePair(code.select(first.exists, first.logit, none),
              code.select(first.exists, first.id, code.i32(-1)), record, code);
  });
}

/// The larger of two: of equal ones the first id, of none the first that is no
/// number.
static SmallVector<Value> largerOf(ValueRange mine, ValueRange other,
                                   BlockCode &code) {
  // -1, without a sign, is the last id.
  Value none = code.i32(-1);
  Value hasNone = code.equal(mine[1], none);
  Value otherHas = code.uless(other[1], none);
  Value isFirst = code.logicalAnd(code.equal(other[0], mine[0]),
                                  code.uless(other[1], mine[1]));
  Value isBetter = code.logicalAnd(
      otherHas,
      code.logicalOr(hasNone,
                     code.logicalOr(isFirst, code.greater(other[0], mine[0]))));
  Value isNaN = code.logicalAnd(hasNone, isNoNumber(code, other[0]));
  Value isTaken = code.logicalOr(isBetter, isNaN);
  return {code.select(isTaken, other[0], mine[0]),
          code.select(isTaken, other[1], mine[1])};
}
static SmallVector<Value> meetLargest(ValueRange kept, BlockCode &code) {
  return code.combineLanes(kept, [&](ValueRange mine, ValueRange other) {
    return largerOf(mine, other, code);
  });
}

void LargestKeeper::finish(const TileRecords &records, Value row, Value range,
                           BlockCode &code) {
  SmallVector<Value> none = {code.f32(kLowestLogit), code.i32(-1)};
  SmallVector<Value> largest =
      foldRecords(records, none, code, [&](ValueRange mine, Value record) {
        SmallVector<Value> other = {
            code.loadOne(code.builder.getF32Type(), record),
            code.loadOne(code.builder.getI32Type(), code.at(record, 4))};
        return largerOf(mine, other, code);
      });
  largest = meetLargest(largest, code);
  code.ifThen(code.equal(code.lane(), code.i32(0)), [&] {
    SmallVector<Value> at = {code.toIndex(row), code.toIndex(range)};
    code.store(largest[0], op.getDestinations()[0], at);
    code.store(largest[1], op.getDestinations()[1], at);
  });
}

//===----------------------------------------------------------------------===//
// The best
//===----------------------------------------------------------------------===//

/// A maximum and a sum, and as many words of pairs of a value and an id.
static constexpr int64_t kSumsWords = 2;

Value BestKeeper::recordWords(Loops &loops) {
  IndexMath math = {loops.builder, loops.loc};
  Value places = math.min(loops.lastSize(op.getDestinations()[2]),
                          loops.index(kWarpThreads));
  return math.add(math.mul(places, 2), kSumsWords);
}

/// Maxima and sums of exponentials of differences from them, of both.
static SmallVector<Value> sumOf(ValueRange mine, ValueRange other,
                                BlockCode &code) {
  Value lowest = code.f32(kLowestLogit);
  Value maximum =
      code.select(code.greater(other[0], mine[0]), other[0], mine[0]);
  // Differences from -inf are those from 0: there is nothing to add then.
  Value base = code.select(code.equal(maximum, lowest), code.f32(0), maximum);
  auto scaled = [&](ValueRange part) {
    return code.mul(part[1], expOf(code, code.sub(part[0], base)));
  };
  return {maximum, code.add(scaled(mine), scaled(other))};
}
static SmallVector<Value> meetSums(ValueRange sums, BlockCode &code) {
  return code.combineLanes(sums, [&](ValueRange mine, ValueRange other) {
    return sumOf(mine, other, code);
  });
}

/// A tile's logits that sums count: -inf in place of forbidden ones where the
/// row's list ends in kSumsOfAllowed.
SmallVector<Value> BestKeeper::counted(const TileLogits &tile, Value row,
                                       BlockCode &code) {
  Value count = code.lastSize(op.getForbidden());
  Value last = code.ifYield(
      code.notEqual(code.toI32(count), code.i32(0)),
      [&] {
        Value place = code.sub(count, code.index(1));
        return code.load(op.getForbidden(), {code.toIndex(row), place});
      },
      code.i32(-1));
  TileLogits leftOut = tile;
  leftOut.forbidden = code.select(code.equal(last, code.i32(kSumsOfAllowed)),
                                  tile.forbidden, code.i32(0));
  TileRanking ranking(leftOut, code);
  SmallVector<Value> logits;
  for (auto [number, logit] : llvm::enumerate(tile.logits))
    logits.push_back(code.select(ranking.isForbidden(number),
                                 code.f32(kLowestLogit), logit));
  return logits;
}

/// The maximum of a tile's logits and the sum of exponentials of differences
/// from it.
void BestKeeper::keepSum(ValueRange logits, Value record, BlockCode &code) {
  Value lowest = code.f32(kLowestLogit), maximum = lowest;
  for (Value logit : logits)
    maximum = code.maxNumber(maximum, logit);
  maximum = code.reduceMax(maximum);
  // Differences from -inf are those from 0: there is nothing to add then.
  Value base = code.select(code.equal(maximum, lowest), code.f32(0), maximum);
  Value sum;
  for (Value logit : logits) {
    Value part = code.exp2(
        code.mul(code.sub(logit, base), code.f32(llvm::numbers::log2e)));
    sum = sum ? code.add(sum, part) : part;
  }
  sum = code.reduceAdd(sum);
  code.ifThen(code.equal(code.lane(), code.i32(0)), [&] {
    code.storeOne(maximum, record);
    code.storeOne(sum, code.at(record, 4));
  });
}

/// The logit and id in front of the first place; of the first pass what nothing
/// is in front of.
SmallVector<Value> BestKeeper::placeBefore(Value row, Value range,
                                           BlockCode &code) {
  constexpr float most = std::numeric_limits<float>::infinity();
  Value one = code.index(1);
  Value before = code.sub(
      arith::MaxUIOp::create(code.builder, code.loc, firstPlace, one), one);
  Value isFirst = code.equal(firstPlace, code.index(0));
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range), before};
  auto bound = [&](Value first, Value list) {
    return code.select(isFirst, first, code.load(list, at));
  };
  return {bound(code.f32(most), op.getDestinations()[2]),
          bound(code.i32(-1), op.getDestinations()[3])};
}

/// The list with what is above its last of a logit a lane, one after the other.
SmallVector<Value> BestKeeper::insert(ValueRange list, Value logits, Value ids,
                                      BlockCode &code) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Value last = code.sub(count(code), code.i32(1)), lane = code.lane();
  auto isBetter = [&](Value values) {
    return code.greater(logits, code.fromLane(values, last));
  };
  // Lanes whose logit is to be inserted, values and ids.
  SmallVector<Value> carried = {code.vote(isBetter(list[0])), list[0], list[1]};
  return code.whileVoted(carried, [&](ValueRange now) {
    Value from = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value value = code.fromLane(logits, from), id = code.fromLane(ids, from);
    // Behind those that are as large: their ids come first.
    Value isSmaller = code.greater(value, now[1]);
    Value valueBefore = code.fromLaneBefore(now[1]),
          idBefore = code.fromLaneBefore(now[2]);
    Value smallerBefore = code.vote(isSmaller);
    Value place =
        math::CountTrailingZerosOp::create(builder, loc, smallerBefore);
    Value isHere = code.equal(lane, place);
    auto shifted = [&](Value mine, Value inserted, Value other) {
      return code.select(isSmaller, code.select(isHere, inserted, other), mine);
    };
    Value values = shifted(now[1], value, valueBefore);
    Value listed = shifted(now[2], id, idBefore);
    // Those behind this lane that are above what is last now.
    Value behind = arith::ShLIOp::create(builder, loc, code.i32(-2), from);
    Value left = code.bitAnd(code.vote(isBetter(values)), behind);
    return SmallVector<Value>{left, values, listed};
  });
}

/// Where a record has a place of its list.
static Value placeOf(Value record, Value number, BlockCode &code) {
  return code.at(record, code.add(code.mul(number, 8), 4 * kSumsWords));
}

void BestKeeper::keep(const TileLogits &tile, Value row, Value range,
                      Value record, BlockCode &code) {
  keepSum(counted(tile, row, code), record, code);
  TileRanking ranking(tile, code);
  SmallVector<Value> keys = ranking.keys(),
                     before = placeBefore(row, range, code);
  for (auto [number, key] : llvm::enumerate(keys)) {
    Value logit = tile.logits[number], id = ranking.idOf(code.i32(number));
    Value isBehind =
        code.logicalOr(code.greater(before[0], logit),
                       code.logicalAnd(code.equal(before[0], logit),
                                       code.less(before[1], id)));
    key = code.select(isBehind, key, code.i32(0));
  }
  code.foldAll(count(code), keys, [&](Value place, ValueRange left) {
    TileRanking::First first = ranking.first(left);
    code.ifThen(first.writes, [&] {
      storePair(code.select(first.exists, first.logit, code.f32(kLowestLogit)),
                code.select(first.exists, first.id, code.i32(-1)),
                placeOf(record, place, code), code);
    });
    return ranking.without(first, left);
  });
}

void BestKeeper::finish(const TileRecords &records, Value row, Value range,
                        BlockCode &code) {
  Type f32 = code.builder.getF32Type(), i32 = code.builder.getI32Type();
  SmallVector<Value> sums = foldRecords(
      records, {code.f32(kLowestLogit), code.f32(0)}, code,
      [&](ValueRange mine, Value record) {
        SmallVector<Value> other = {code.loadOne(f32, record),
                                    code.loadOne(f32, code.at(record, 4))};
        return sumOf(mine, other, code);
      });
  sums = meetSums(sums, code);
  Value lane = code.lane(), isPlace = code.uless(lane, count(code));
  Value placeInside = code.select(isPlace, lane, code.i32(0));
  SmallVector<Value> list = code.foldAll(
      records.count, {code.f32(kLowestLogit), code.i32(-1)},
      [&](Value number, ValueRange now) {
        Value place = placeOf(records.at(number, code), placeInside, code);
        Value value = code.select(isPlace, code.loadOne(f32, place),
                                  code.f32(kLowestLogit));
        Value id = code.loadOne(i32, code.at(place, 4));
        return insert(now, value, id, code);
      });
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range)};
  code.ifThen(code.equal(lane, code.i32(0)), [&] {
    code.store(sums[0], op.getDestinations()[0], at);
    code.store(sums[1], op.getDestinations()[1], at);
  });
  code.ifThen(isPlace, [&] {
    SmallVector<Value> place =
        append(at, code.add(firstPlace, code.toIndex(lane)));
    code.store(list[0], op.getDestinations()[2], place);
    code.store(list[1], op.getDestinations()[3], place);
  });
}
