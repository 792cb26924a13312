//===- OnlineRow.cpp - Attention for one query ----------------------------===//
//
// If vectors do not divide a width, the last one reads and writes its first
// lanes only. Values are added to several sets of sums in turn, chosen by the
// key's position, because additions to a single set would wait for each other;
// a tree joins the sets at the end.
//
// A step of short floats takes two keys at once, an even one and the next.
// Unpacking interleaves their values inside each 128 bits, which leaves sums in
// another order of lanes; the end restores the order.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/OnlineRow.h"
#include "lib/Kernels/Attention/OnlineState.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"

using namespace mlir;
using namespace heddle;

void heddle::emitRow(OnlineInitOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Value scale = loops.f32(op.getScale().convertToFloat(), isa.lanes);
  // Short floats are multiplied where they stand.
  int64_t copied =
      elementOf(op.getQueries()).isF32() ? widthOf(op.getQueries()) : 0;
  bool isWidened = isShortFloat(elementOf(op.getRows()));
  forEachPart(isa.lanes, copied, [&](int64_t d, int64_t count) {
    Value at = loops.index(d);
    Value query =
        loops.loadFirst(op.getRows(), {op.getFirst(), at}, count, isa.lanes);
    if (isWidened)
      query = loops.widen(query);
    loops.storeFirst(loops.mul(query, scale), op.getQueries(), at, count);
  });
  forEachPart(isa.lanes, widthOf(op.getSums()), [&](int64_t d, int64_t count) {
    loops.storeFirst(loops.f32(0, isa.lanes), op.getSums(), loops.index(d),
                     count);
  });
  auto fill = [&](int64_t row, double value) {
    loops.storeVector(loops.f32(value, isa.lanes), op.getState(),
                      {loops.index(row), loops.index(0)});
  };
  for (auto [row, value] : llvm::enumerate(kInitialState))
    fill(row, value);
}

namespace {
/// What a vector of sums covers: `count` elements of the width from `begin` on,
/// or every second group of four of twice as many lanes.
struct SumPart {
  int64_t begin, count;
  enum Groups { All, Even, Odd } groups = All;
};

/// sums[first part of the width, ...] += probabilities . values.
class RowUpdate {
public:
  RowUpdate(OnlineUpdateOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, elementOf(op.getProbabilities())),
        group(product.group()), lanes(isa.lanes),
        places{op.getOrigin(), op.getList(), op.getHistory(), op.getCacheRows(),
               int64_t(op.getPinned())} {
    std::tie(fullBegin, fullEnd) = fullPart(loops, op.getBegin(), op.getEnd(),
                                            op.getFullBegin(), op.getFullEnd());
  }

  void build();

private:
  SmallVector<SumPart> partsOfWidth();
  void parts(ArrayRef<SumPart> parts);
  void addStep(Value key, ArrayRef<SumPart> parts, ValueRange before,
               MutableArrayRef<Value> after, bool isPartial, Value row = {});
  SmallVector<Value> addSteps(Value first, ArrayRef<SumPart> parts,
                              int64_t sets, ValueRange before, bool isPartial,
                              Value row = {});
  Value valuesAt(ArrayRef<Value> rows, const SumPart &part);
  void addToSums(Value sums, int64_t begin, int64_t count);

  OnlineUpdateOp op;
  VectorLoops loops;
  MultiplyAdd product;
  /// Keys of a step, and sums of a vector.
  int64_t group, lanes;
  KeyPlaces places;
  Value fullBegin, fullEnd;
};
} // namespace

SmallVector<SumPart> RowUpdate::partsOfWidth() {
  int64_t width = widthOf(op.getSums());
  int64_t paired = group == 1 ? 0 : width / (2 * lanes) * (2 * lanes);
  SmallVector<SumPart> parts;
  for (int64_t d = 0; d < paired; d += 2 * lanes)
    for (SumPart::Groups groups : {SumPart::Even, SumPart::Odd})
      parts.push_back({d, 2 * lanes, groups});
  forEachPart(lanes, width - paired, [&](int64_t d, int64_t count) {
    parts.push_back({paired + d, count});
  });
  return parts;
}

/// Elements of the rows, those of several side by side.
Value RowUpdate::valuesAt(ArrayRef<Value> rows, const SumPart &part) {
  int64_t width = std::max(lanes, part.count);
  SmallVector<Value> values;
  for (Value row : rows)
    values.push_back(loops.loadFirst(
        op.getValues(), {row, loops.index(part.begin)}, part.count, width));
  if (group == 1)
    return asF32(loops, values[0]);
  if (part.groups == SumPart::All)
    return loops.interleave(values[0], values[1]);
  return loops.interleaveGroups(values[0], values[1],
                                part.groups == SumPart::Odd);
}

/// Adds the keys of a step, from `key` on; in a partial one those that are no
/// keys stand for their neighbours inside, and nothing is added. With `row` the
/// keys' rows follow each other from there on.
void RowUpdate::addStep(Value key, ArrayRef<SumPart> parts, ValueRange before,
                        MutableArrayRef<Value> after, bool isPartial,
                        Value row) {
  Value last = loops.add(op.getEnd(), -1);
  SmallVector<Value> rows;
  Value inside;
  for (int64_t k = 0; k < group; ++k) {
    if (row) {
      rows.push_back(loops.add(row, k));
      prefetchRow(loops, op.getValues(), loops.add(rows.back(), lanes));
      continue;
    }
    Value j = loops.add(key, k);
    if (isPartial) {
      j = loops.clamp(j, op.getBegin(), last);
      if (group == 1)
        inside = loops.broadcast(loops.equal(j, key), lanes), key = j;
    }
    rows.push_back(rowOf(loops, places, j, op.getValues()));
    // Those of a list were asked for beside their keys.
    if (places.list)
      continue;
    Value next = loops.min(loops.add(j, lanes), last);
    prefetchRow(loops, op.getValues(),
                rowOf(loops, places, next, op.getValues()));
  }
  Value place = loops.sub(key, loops.floorTo(op.getBegin(), op.getTile()));
  Value probability = product.broadcast(op.getProbabilities(), place, lanes);
  // Probabilities of pairs are marked outside of [begin, end), too.
  if (isPartial)
    inside = inside ? loops.logicalAnd(inside, insideMask(loops, probability))
                    : insideMask(loops, probability);
  if (op.getScales())
    probability = loops.mul(
        probability, scaleOf(loops, op.getScales(), rows.front(), lanes));
  for (auto [p, part] : llvm::enumerate(parts)) {
    Value values = valuesAt(rows, part);
    after[p] = isPartial ? product.multiplyAddInside(values, probability,
                                                     before[p], inside)
                         : product.multiplyAdd(probability, values, before[p]);
  }
}

void RowUpdate::addToSums(Value sums, int64_t begin, int64_t count) {
  Value at = loops.index(begin);
  Value before = loops.loadFirst(op.getSums(), at, count, lanes);
  loops.storeFirst(loops.add(before, sums), op.getSums(), at, count);
}

/// Adds a step to each set.
SmallVector<Value> RowUpdate::addSteps(Value first, ArrayRef<SumPart> parts,
                                       int64_t sets, ValueRange before,
                                       bool isPartial, Value row) {
  SmallVector<Value> after(before);
  for (int64_t set = 0; set < sets; ++set) {
    size_t at = set * parts.size();
    addStep(loops.add(first, set * group), parts,
            before.slice(at, parts.size()),
            MutableArrayRef(after).slice(at, parts.size()), isPartial,
            row ? loops.add(row, set * group) : Value());
  }
  return after;
}

void RowUpdate::parts(ArrayRef<SumPart> parts) {
  // An addition takes four cycles, and two can start in each. The keys of all
  // sets are in one tile, whose probabilities stand in scratch memory.
  int64_t sets = std::min<int64_t>(8 / llvm::PowerOf2Ceil(parts.size()),
                                   op.getTile() / group);
  int64_t keys = sets * group;
  SmallVector<Value> sums(sets * parts.size(), loops.f32(0, lanes));
  auto pass = [&](Value from, Value to, bool isPartial) {
    sums =
        loops.carry(from, to, keys, sums, [&](Value first, ValueRange carried) {
          auto ofKeys = [&] {
            return addSteps(first, parts, sets, carried, isPartial);
          };
          if (isPartial || places.list || places.history)
            return ofKeys();
          RowRun run = runOf(loops, places, first, keys, op.getValues());
          auto ofRun = [&] {
            return addSteps(first, parts, sets, carried, isPartial, run.first);
          };
          return loops.ifYield(run.isWhole, ofRun, ofKeys);
        });
  };
  // Sets go by the position of the key: groups of them count from key 0.
  auto ceilTo = [&](Value value) {
    return loops.floorTo(loops.add(value, keys - 1), keys);
  };
  Value begin = loops.floorTo(op.getBegin(), keys);
  Value from = ceilTo(loops.min(ceilTo(fullBegin), op.getEnd()));
  Value to = loops.max(from, loops.floorTo(fullEnd, keys));
  pass(begin, from, /*isPartial=*/true);
  pass(from, to, /*isPartial=*/false);
  pass(to, op.getEnd(), /*isPartial=*/true);
  for (int64_t half = sets / 2; half > 0; half /= 2)
    for (size_t at = 0; at < half * parts.size(); ++at)
      sums[at] = loops.add(sums[at], sums[at + half * parts.size()]);
  for (auto [p, part] : llvm::enumerate(parts)) {
    if (part.groups == SumPart::All)
      addToSums(sums[p], part.begin, part.count);
    if (part.groups != SumPart::Even)
      continue;
    // Groups of four of this vector and of the next one, in turn.
    for (int64_t half = 0; half < 2; ++half) {
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < lanes; ++lane)
        order.push_back(lane / 8 * 4 + half * lanes / 2 + lane % 4 +
                        (lane / 4 % 2) * lanes);
      addToSums(loops.shuffle(sums[p], sums[p + 1], order),
                part.begin + half * lanes, lanes);
    }
  }
}

void RowUpdate::build() {
  constexpr size_t kTogether = 8;
  SmallVector<SumPart> all = partsOfWidth();
  for (size_t at = 0; at < all.size(); at += kTogether)
    parts(ArrayRef(all).slice(at, std::min(kTogether, all.size() - at)));
}

void heddle::emitRow(OnlineUpdateOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  RowUpdate(op, builder, isa).build();
}

void heddle::emitRow(OnlineFinishOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Value total = loops.loadVector(
      op.getState(), {loops.index(kTotal), loops.index(0)}, isa.lanes);
  total = prepareTotal(loops, loops.reduceAdd(total), op.getNormalizer());
  Type element = elementOf(op.getRows());
  VectorMath math(builder, op.getLoc(), isa);
  forEachPart(isa.lanes, widthOf(op.getSums()), [&](int64_t d, int64_t count) {
    Value at = loops.index(d);
    Value sum = loops.loadFirst(op.getSums(), at, count, isa.lanes);
    Value y = divideByTotal(loops, sum, total, op.getNormalizer());
    loops.storeFirst(element.isF32() ? y : roundTo(element, y, math),
                     op.getRows(), {op.getFirst(), at}, count);
  });
}

/// The state has lanes of keys, whose totals are joined in the end: the block's
/// total is in the first one.
void heddle::emitResume(OnlineResumeOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t lanes = isa.lanes;
  loops.each(loops.index(0), loops.index(widthOf(op.getOwn())), 1,
             [&](Value d) {
               Value sum = loops.load(op.getSums(), {d, op.getColumn()});
               loops.store(sum, op.getOwn(), d);
             });
  for (int64_t row = 0; row < kOnlineStateRows; ++row) {
    Value at = loops.index(row);
    Value value = loops.load(op.getState(), {at, op.getColumn()});
    Value all = loops.broadcast(value, lanes);
    if (row == kTotal) {
      Value isFirst =
          loops.equal(loops.iota(0, lanes),
                      loops.broadcast(loops.toI32(loops.index(0)), lanes));
      all = loops.select(isFirst, all, loops.f32(0, lanes));
    }
    loops.storeVector(all, op.getOwnState(), {at, loops.index(0)});
  }
}

/// Totals stay in their lanes.
void heddle::emitMerge(OnlineMergeOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t lanes = isa.lanes;
  Value column = loops.index(0), one = loops.f32(1, lanes);
  Value ofOwn = one, ofOther = one;
  if (op.getNormalizer() == Normalizer::Softmax) {
    VectorMath math(builder, op.getLoc(), isa);
    PointMeeting both =
        meet(loops, math, op.getFactor().convertToDouble(),
             ReferencePoint::load(loops, op.getOwnState(), column),
             ReferencePoint::load(loops, op.getState(), column));
    both.point.store(loops, op.getOwnState(), column);
    ofOwn = both.ofFirst;
    ofOther = both.ofSecond;
  }
  auto join = [&](Value own, Value other) {
    return loops.fma(other, ofOther, loops.mul(own, ofOwn));
  };
  auto totalOf = [&](Value state) {
    return loops.loadVector(state, {loops.index(kTotal), column}, lanes);
  };
  loops.storeVector(join(totalOf(op.getOwnState()), totalOf(op.getState())),
                    op.getOwnState(), {loops.index(kTotal), column});
  forEachPart(lanes, widthOf(op.getOwn()), [&](int64_t d, int64_t count) {
    Value at = loops.index(d);
    auto sumsOf = [&](Value sums) {
      return loops.loadFirst(sums, at, count, lanes);
    };
    loops.storeFirst(join(sumsOf(op.getOwn()), sumsOf(op.getSums())),
                     op.getOwn(), at, count);
  });
}
