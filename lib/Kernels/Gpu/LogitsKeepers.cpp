#include "lib/Kernels/Gpu/LogitsKeepers.h"
#include "dialect/MaskRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

//===----------------------------------------------------------------------===//
// The largest
//===----------------------------------------------------------------------===//

SmallVector<Value> LargestKeeper::keep(ValueRange kept, Value logit,
                                       Value allowed, Value id,
                                       BlockCode &code) {
  // What is no number is a value only as long as there is no id.
  Value hasNone = code.isSame(kept[1], code.i32(-1));
  Value best = code.choose(hasNone, code.f32(kLowestLogit), kept[0]);
  Value isBest = code.isAbove(allowed, best);
  Value isTaken =
      code.either(isBest, code.both(hasNone, isNoNumber(code, allowed)));
  return {code.choose(isTaken, allowed, kept[0]),
          code.choose(isBest, id, kept[1])};
}

/// The larger of two: of equal ones the first id, of none the first that is no
/// number.
static SmallVector<Value> largerOf(ValueRange mine, ValueRange other,
                                   BlockCode &code) {
  // -1, without a sign, is the last id.
  Value none = code.i32(-1);
  Value hasNone = code.isSame(mine[1], none);
  Value otherHas = code.isLess(other[1], none);
  Value isFirst = code.both(code.isEqual(other[0], mine[0]),
                            code.isLess(other[1], mine[1]));
  Value isBetter = code.both(
      otherHas,
      code.either(hasNone,
                  code.either(isFirst, code.isAbove(other[0], mine[0]))));
  Value isNaN = code.both(hasNone, isNoNumber(code, other[0]));
  Value isTaken = code.either(isBetter, isNaN);
  return {code.choose(isTaken, other[0], mine[0]),
          code.choose(isTaken, other[1], mine[1])};
}
static SmallVector<Value> largestOfLanes(ValueRange kept, BlockCode &code) {
  return code.combineLanes(kept, [&](ValueRange mine, ValueRange other) {
    return largerOf(mine, other, code);
  });
}

void LargestKeeper::leave(ValueRange kept, Value record, BlockCode &code) {
  SmallVector<Value> largest = largestOfLanes(kept, code);
  code.when(code.isSame(code.lane(), code.i32(0)), [&] {
    code.storeOne(largest[0], record);
    code.storeOne(largest[1], code.at(record, 4));
  });
}

void LargestKeeper::finish(const TileRecords &records, Value row, Value range,
                           BlockCode &code) {
  SmallVector<Value> largest = foldRecords(
      records, none(code), code, [&](ValueRange mine, Value record) {
        SmallVector<Value> other = {
            code.loadOne(code.builder.getF32Type(), record),
            code.loadOne(code.builder.getI32Type(), code.at(record, 4))};
        return largerOf(mine, other, code);
      });
  largest = largestOfLanes(largest, code);
  code.when(code.isSame(code.lane(), code.i32(0)), [&] {
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
      code.choose(code.isAbove(other[0], mine[0]), other[0], mine[0]);
  // Differences from -inf are those from 0: there is nothing to add then.
  Value base = code.choose(code.isEqual(maximum, lowest), code.f32(0), maximum);
  auto scaled = [&](ValueRange part) {
    return code.mul(part[1], expOf(code, code.sub(part[0], base)));
  };
  return {maximum, code.add(scaled(mine), scaled(other))};
}
static SmallVector<Value> sumOfLanes(ValueRange sums, BlockCode &code) {
  return code.combineLanes(sums, [&](ValueRange mine, ValueRange other) {
    return sumOf(mine, other, code);
  });
}

SmallVector<Value> BestKeeper::start(Value row, Value range, BlockCode &code) {
  // In front of the first pass stands what nothing is above.
  constexpr float most = std::numeric_limits<float>::infinity();
  Value one = code.index(1);
  Value before = arith::SubIOp::create(
      code.builder, code.loc,
      arith::MaxUIOp::create(code.builder, code.loc, firstPlace, one), one);
  Value isFirst =
      arith::CmpIOp::create(code.builder, code.loc, arith::CmpIPredicate::eq,
                            firstPlace, code.index(0));
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range), before};
  auto bound = [&](Value first, Value list) {
    return code.choose(isFirst, first, code.load(list, at));
  };
  return {code.f32(kLowestLogit),
          code.i32(-1),
          code.f32(kLowestLogit),
          code.f32(0),
          bound(code.f32(most), op.getDestinations()[2]),
          bound(code.i32(-1), op.getDestinations()[3])};
}

/// The list with what is above its last of a logit a lane, one after the other.
SmallVector<Value> BestKeeper::insert(ValueRange list, Value logits, Value ids,
                                      BlockCode &code) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  Value last = code.minus(count(code), code.i32(1)), lane = code.lane();
  auto isBetter = [&](Value values) {
    return code.isAbove(logits, code.fromLane(values, last));
  };
  // Lanes whose logit is to be inserted, values and ids.
  SmallVector<Value> carried = {code.vote(isBetter(list[0])), list[0], list[1]};
  auto before = [&](OpBuilder &, Location, ValueRange now) {
    Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         now[0], code.i32(0));
    scf::ConditionOp::create(builder, loc, isLeft, now);
  };
  auto insertFirst = [&](OpBuilder &, Location, ValueRange now) {
    Value from = math::CountTrailingZerosOp::create(builder, loc, now[0]);
    Value value = code.fromLane(logits, from), id = code.fromLane(ids, from);
    // Behind those that are as large: their ids come first.
    Value isSmaller = code.isAbove(value, now[1]);
    Value valueBefore = code.fromLaneBefore(now[1]),
          idBefore = code.fromLaneBefore(now[2]);
    Value smallerBefore = code.vote(isSmaller);
    Value place =
        math::CountTrailingZerosOp::create(builder, loc, smallerBefore);
    Value isHere = code.isSame(lane, place);
    auto shifted = [&](Value mine, Value inserted, Value other) {
      return code.choose(isSmaller, code.choose(isHere, inserted, other), mine);
    };
    Value values = shifted(now[1], value, valueBefore);
    Value listed = shifted(now[2], id, idBefore);
    // Those behind this lane that are above what is last now.
    Value behind = arith::ShLIOp::create(builder, loc, code.i32(-2), from);
    Value left = code.both(code.vote(isBetter(values)), behind);
    scf::YieldOp::create(builder, loc, ValueRange{left, values, listed});
  };
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(carried).getTypes(),
                                   carried, before, insertFirst);
  return SmallVector<Value>(loop.getResults().drop_front());
}

SmallVector<Value> BestKeeper::keep(ValueRange kept, Value logit, Value allowed,
                                    Value id, BlockCode &code) {
  Value isBehind = code.either(
      code.isAbove(kept[4], allowed),
      code.both(code.isEqual(kept[4], allowed),
                arith::CmpIOp::create(code.builder, code.loc,
                                      arith::CmpIPredicate::slt, kept[5], id)));
  SmallVector<Value> result =
      insert(kept.take_front(2),
             code.choose(isBehind, allowed, code.f32(kLowestLogit)), id, code);
  llvm::append_range(result,
                     sumOf(kept.slice(2, 2), {logit, code.f32(1)}, code));
  llvm::append_range(result, kept.take_back(2));
  return result;
}

/// Where a record has a place of its list.
static Value placeOf(Value record, Value number, BlockCode &code) {
  return code.at(record, code.plus(code.times(number, 8), 4 * kSumsWords));
}

void BestKeeper::leave(ValueRange kept, Value record, BlockCode &code) {
  SmallVector<Value> sums = sumOfLanes(kept.slice(2, 2), code);
  Value lane = code.lane();
  code.when(code.isSame(lane, code.i32(0)), [&] {
    code.storeOne(sums[0], record);
    code.storeOne(sums[1], code.at(record, 4));
  });
  code.when(code.isLess(lane, count(code)), [&] {
    Value place = placeOf(record, lane, code);
    code.storeOne(kept[0], place);
    code.storeOne(kept[1], code.at(place, 4));
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
  sums = sumOfLanes(sums, code);
  Value lane = code.lane(), isPlace = code.isLess(lane, count(code));
  Value placeInside = code.choose(isPlace, lane, code.i32(0));
  SmallVector<Value> list = code.foldAll(
      records.count, {code.f32(kLowestLogit), code.i32(-1)},
      [&](Value number, ValueRange now) {
        Value place = placeOf(records.at(number, code), placeInside, code);
        Value value = code.choose(isPlace, code.loadOne(f32, place),
                                  code.f32(kLowestLogit));
        Value id = code.loadOne(i32, code.at(place, 4));
        return insert(now, value, id, code);
      });
  SmallVector<Value> at = {code.toIndex(row), code.toIndex(range)};
  code.when(code.isSame(lane, code.i32(0)), [&] {
    code.store(sums[0], op.getDestinations()[0], at);
    code.store(sums[1], op.getDestinations()[1], at);
  });
  code.when(isPlace, [&] {
    SmallVector<Value> place =
        append(at, arith::AddIOp::create(code.builder, code.loc, firstPlace,
                                         code.toIndex(lane)));
    code.store(list[0], op.getDestinations()[2], place);
    code.store(list[1], op.getDestinations()[3], place);
  });
}
