//===- OnlineRow.cpp - Attention for one query ----------------------------===//
//
// Widths that no whole vectors cover end in one of which only the first lanes
// are read and written. Scores of as many keys as a vector has lanes are dot
// products that a tree of shuffles and additions sums, all at once. Values are
// added into several sets of sums in turn, by the position of the key, since a
// single one would wait for each addition; a tree joins them.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/OnlineRow.h"
#include "lib/Kernels/InnerProduct.h"
#include "lib/Kernels/LaneRegion.h"
#include "lib/Kernels/OnlineState.h"
#include "lib/Kernels/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

static int64_t widthOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

/// Calls `body` with the begin and the size of each vector that covers `width`.
static void forEachPart(const IsaLevel &isa, int64_t width,
                        function_ref<void(int64_t, int64_t)> body) {
  for (int64_t begin = 0; begin < width; begin += isa.lanes)
    body(begin, std::min(isa.lanes, width - begin));
}

/// The row of position j in a memory or a ring of keys.
static Value rowOf(VectorLoops &loops, Value j, Value rows, Value origin) {
  if (!origin)
    return j;
  Value slot = loops.minus(j, origin);
  Value isNextLap = loops.lessOrEqual(loops.size(rows, 0), slot);
  return loops.choose(isNextLap, loops.minus(slot, loops.size(rows, 0)), slot);
}

/// Asks for the cache lines of a row that is needed soon, where rows are a page
/// apart: the machine does not foresee them itself. In the second cache, since
/// such rows share few sets of the first.
static void prefetchRow(VectorLoops &loops, Value rows, Value row) {
  constexpr int64_t kPage = 4096, kLine = 64;
  auto [strides, offset] =
      cast<MemRefType>(rows.getType()).getStridesAndOffset();
  if (ShapedType::isDynamic(strides[0]) || 4 * strides[0] < kPage)
    return;
  for (int64_t d = 0; d < widthOf(rows); d += kLine / 4)
    memref::PrefetchOp::create(loops.builder, loops.loc, rows,
                               ValueRange{row, loops.index(d)},
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

/// The sum of all lanes, in every lane: a tree.
static Value sumOfLanes(VectorLoops &loops, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> other;
    for (int64_t lane = 0; lane < lanes; ++lane)
      other.push_back(lane ^ half);
    vector = loops.add(vector, loops.shuffle(vector, vector, other));
  }
  return vector;
}
/// The largest lane, in every lane.
static Value largestLane(VectorLoops &loops, Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> other;
    for (int64_t lane = 0; lane < lanes; ++lane)
      other.push_back(lane ^ half);
    vector = loops.greater(vector, loops.shuffle(vector, vector, other));
  }
  return vector;
}

/// A vector whose lane r is the sum of the lanes of vectors[r]. Pairs are
/// folded first inside quarters of 128 bits, then across them: instructions
/// that stay inside are the cheapest.
static Value sumsOfLanes(VectorLoops &loops, SmallVector<Value> vectors) {
  int64_t lanes = vectors.size(), quarters = lanes / 4;
  auto foldPairs = [&](ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    SmallVector<Value> folded;
    for (size_t i = 0; i < vectors.size(); i += 2)
      folded.push_back(
          loops.add(loops.shuffle(vectors[i], vectors[i + 1], low),
                    loops.shuffle(vectors[i], vectors[i + 1], high)));
    vectors = std::move(folded);
  };
  // Lanes of each quarter: those at `places`, of the second vector from 4 on.
  auto inQuarters = [&](ArrayRef<int64_t> places) {
    SmallVector<int64_t> result;
    for (int64_t quarter = 0; quarter < quarters; ++quarter)
      for (int64_t place : places)
        result.push_back(4 * quarter + place % 4 + (place < 4 ? 0 : lanes));
    return result;
  };
  auto wholeQuarters = [&](int64_t begin, int64_t step, int64_t count) {
    SmallVector<int64_t> result;
    for (int64_t vector = 0; vector < 2; ++vector)
      for (int64_t k = 0; k < count; ++k)
        for (int64_t lane = 0; lane < 4; ++lane)
          result.push_back(vector * lanes + 4 * (begin + k * step) + lane);
    return result;
  };
  foldPairs(inQuarters({0, 4, 1, 5}), inQuarters({2, 6, 3, 7}));
  foldPairs(inQuarters({0, 1, 4, 5}), inQuarters({2, 3, 6, 7}));
  if (quarters == 4)
    foldPairs(wholeQuarters(0, 1, 2), wholeQuarters(2, 1, 2));
  foldPairs(wholeQuarters(0, 2, quarters / 2),
            wholeQuarters(1, 2, quarters / 2));
  return vectors.front();
}

void heddle::emitRow(OnlineInitOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  Value scale = loops.splat(op.getScale().convertToFloat(), isa.lanes);
  forEachPart(isa, widthOf(op.getQueries()), [&](int64_t d, int64_t count) {
    Value at = loops.index(d);
    Value query =
        loops.loadFirst(op.getRows(), {op.getFirst(), at}, count, isa.lanes);
    loops.storeFirst(loops.mul(query, scale), op.getQueries(), at, count);
  });
  forEachPart(isa, widthOf(op.getSums()), [&](int64_t d, int64_t count) {
    loops.storeFirst(loops.splat(0, isa.lanes), op.getSums(), loops.index(d),
                     count);
  });
  auto fill = [&](int64_t row, double value) {
    loops.storeVector(loops.splat(value, isa.lanes), op.getState(),
                      {loops.index(row), loops.index(0)});
  };
  for (auto [row, value] : llvm::enumerate(kInitialState))
    fill(row, value);
}

namespace {
class RowWeights {
public:
  RowWeights(OnlineWeightsOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, builder.getF32Type()), math(builder, op.getLoc(), isa),
        lanes(isa.lanes), isSoftmax(op.getNormalizer() == Normalizer::Softmax) {
  }

  void build();

private:
  Value state(StateRow row);
  void setState(Value value, StateRow row);
  Value weightsAt(Value key);
  void forEachTile(Value initial,
                   function_ref<Value(Value key, Value carried)> body,
                   function_ref<void(Value)> last);

  Value scores(Value key);
  Value mask(Value key, Value positions);
  Value scoredTile(Value key);
  Value weight(Value score);
  ReferencePoint movePoint(Value largest);

  OnlineWeightsOp op;
  VectorLoops loops;
  InnerProduct product;
  VectorMath math;
  int64_t lanes;
  bool isSoftmax;
  Value batch, head, position;
  SmallVector<Value> query;
};
} // namespace

Value RowWeights::state(StateRow row) {
  return loops.loadVector(op.getState(), {loops.index(row), loops.index(0)},
                          lanes);
}
void RowWeights::setState(Value value, StateRow row) {
  loops.storeVector(value, op.getState(), {loops.index(row), loops.index(0)});
}
Value RowWeights::weightsAt(Value key) {
  return loops.minus(key, loops.floorTo(op.getBegin(), lanes));
}

/// The dot products of the query with the keys of a tile; keys outside of
/// [begin, end) stand for their neighbours inside.
Value RowWeights::scores(Value key) {
  Value last = loops.plus(op.getEnd(), -1);
  SmallVector<Value> products;
  for (int64_t k = 0; k < lanes; ++k) {
    Value j = loops.clamp(loops.plus(key, k), op.getBegin(), last);
    Value row = rowOf(loops, j, op.getKeys(), op.getOrigin());
    Value next = loops.least(loops.plus(j, lanes), last);
    prefetchRow(loops, op.getKeys(),
                rowOf(loops, next, op.getKeys(), op.getOrigin()));
    Value sum;
    forEachPart(loops.isa, widthOf(op.getKeys()),
                [&](int64_t d, int64_t count) {
                  Value part = loops.loadFirst(
                      op.getKeys(), {row, loops.index(d)}, count, lanes);
                  Value factor = query[d / lanes];
                  sum = product.multiplyAdd(part, factor, sum);
                });
    products.push_back(sum);
  }
  return sumsOfLanes(loops, products);
}

/// Which keys of a tile are in [begin, end) and in the mask.
Value RowWeights::mask(Value key, Value positions) {
  Lanes predicate(loops.builder, loops.loc);
  Value allowed = predicate.both(
      predicate.lessOrEqual(loops.toI32(op.getBegin()), positions),
      predicate.less(positions, loops.toI32(op.getEnd())));
  if (MaskOpInterface mask = op.getMaskOp())
    allowed = predicate.both(
        allowed, mask.contains(predicate, {batch, head, position, positions}));
  return allowed;
}

Value RowWeights::weight(Value score) {
  if (op.getNormalizer() == Normalizer::Region) {
    LaneRegion region(op.getWeighting(), lanes);
    region.bind(loops, 0, score);
    score = region.result(loops);
  }
  // 0 + -0.0 is 0: only keys outside the mask are marked.
  return loops.add(score, loops.splat(0, lanes));
}

/// Scores of a tile, -inf outside the mask; or weights, marked there, where
/// there is no maximum to wait for.
Value RowWeights::scoredTile(Value key) {
  Value score = scores(key);
  Value positions = arith::AddIOp::create(loops.builder, loops.loc,
                                          loops.spread(loops.toI32(key), lanes),
                                          loops.count(0, lanes));
  if (!op.getScore().empty()) {
    LaneRegion region(op.getScore(), lanes);
    for (auto [argument, value] : llvm::enumerate(
             ArrayRef<Value>{score, batch, head, position, positions}))
      region.bind(loops, argument, value);
    score = region.result(loops);
  }
  if (!isSoftmax)
    score = weight(score);
  auto [from, to] = fullPart(loops, op.getBegin(), op.getEnd(),
                             op.getFullBegin(), op.getFullEnd());
  Value isPartial = loops.either(loops.less(key, from),
                                 loops.less(to, loops.plus(key, lanes)));
  auto limit = [&] {
    Value outside =
        isSoftmax ? loops.splat(-INFINITY, lanes) : outsideMask(loops, lanes);
    return SmallVector<Value>{
        loops.choose(mask(key, positions), score, outside)};
  };
  auto all = [&] { return SmallVector<Value>{score}; };
  return loops.pick(isPartial, limit, all).front();
}

/// Where exponents count from once the largest score is known; shrinks what was
/// gathered before.
ReferencePoint RowWeights::movePoint(Value largest) {
  Value column = loops.index(0);
  PointMove move =
      followMaximum(loops, math, largestLane(loops, largest),
                    op.getFactor().convertToDouble(),
                    ReferencePoint::load(loops, op.getState(), column));
  move.point.store(loops, op.getState(), column);
  loops.when(loops.any(move.shrinks), [&] {
    setState(loops.mul(state(kTotal), move.shrinkage), kTotal);
    forEachPart(loops.isa, widthOf(op.getSums()),
                [&](int64_t d, int64_t count) {
                  Value at = loops.index(d);
                  Value sum = loops.loadFirst(op.getSums(), at, count, lanes);
                  loops.storeFirst(loops.mul(sum, move.shrinkage), op.getSums(),
                                   at, count);
                });
  });
  return move.point;
}

void RowWeights::build() {
  batch = loops.toI32(op.getBatch());
  head = loops.toI32(op.getHead());
  position = loops.toI32(op.getFirst());
  forEachPart(loops.isa, widthOf(op.getQueries()),
              [&](int64_t d, int64_t count) {
                query.push_back(loops.loadFirst(op.getQueries(), loops.index(d),
                                                count, lanes));
              });
  Value begin = loops.floorTo(op.getBegin(), lanes);
  Value initial = isSoftmax ? loops.splat(-INFINITY, lanes) : state(kTotal);
  Value carried =
      loops
          .carry(begin, op.getEnd(), lanes, initial,
                 [&](Value key, ValueRange carried) {
                   Value tile = scoredTile(key);
                   loops.storeVector(tile, op.getWeights(), weightsAt(key));
                   Value next = isSoftmax ? loops.greater(tile, carried.front())
                                          : loops.add(carried.front(), tile);
                   return SmallVector<Value>{next};
                 })
          .front();
  if (!isSoftmax)
    return setState(carried, kTotal);
  ReferencePoint point = movePoint(carried);
  Value lowest = loops.splat(-INFINITY, lanes);
  double factor = op.getFactor().convertToDouble();
  SmallVector<Value> total = loops.carry(
      begin, op.getEnd(), lanes, state(kTotal),
      [&](Value key, ValueRange carried) {
        Value at = weightsAt(key);
        Value score = loops.loadVector(op.getWeights(), at, lanes);
        Value isOutside = arith::CmpFOp::create(
            loops.builder, loops.loc, arith::CmpFPredicate::OEQ, score, lowest);
        Value weight =
            loops.choose(isOutside, outsideMask(loops, lanes),
                         math.exp2(exponent(loops, score, factor, point)));
        loops.storeVector(weight, op.getWeights(), at);
        return SmallVector<Value>{loops.add(carried.front(), weight)};
      });
  setState(total.front(), kTotal);
}

void heddle::emitRow(OnlineWeightsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  RowWeights(op, builder, isa).build();
}

namespace {
/// sums[first part of the width, ...] += weights . values.
class RowUpdate {
public:
  RowUpdate(OnlineUpdateOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, builder.getF32Type()), lanes(isa.lanes) {
    std::tie(fullBegin, fullEnd) = fullPart(loops, op.getBegin(), op.getEnd(),
                                            op.getFullBegin(), op.getFullEnd());
  }

  void build();

private:
  using Part = std::pair<int64_t, int64_t>;
  void parts(ArrayRef<Part> parts);
  Value weightOf(Value key);

  OnlineUpdateOp op;
  VectorLoops loops;
  InnerProduct product;
  int64_t lanes;
  Value fullBegin, fullEnd;
};
} // namespace

Value RowUpdate::weightOf(Value key) {
  Value base = loops.floorTo(op.getBegin(), op.getTile());
  return loops.load(op.getWeights(), loops.minus(key, base));
}

void RowUpdate::parts(ArrayRef<Part> parts) {
  // An addition takes four cycles, and two can start in each.
  int64_t sets = 8 / llvm::PowerOf2Ceil(parts.size());
  SmallVector<Value> sums(sets * parts.size(), loops.splat(0, lanes));
  Value last = loops.plus(op.getEnd(), -1);
  auto add = [&](Value j, ValueRange before, MutableArrayRef<Value> after,
                 Value isInside) {
    Value row = rowOf(loops, j, op.getValues(), op.getOrigin());
    Value next = loops.least(loops.plus(j, lanes), last);
    prefetchRow(loops, op.getValues(),
                rowOf(loops, next, op.getValues(), op.getOrigin()));
    Value weight = loops.spread(weightOf(j), lanes);
    if (isInside)
      isInside =
          loops.both(loops.spread(isInside, lanes), insideMask(loops, weight));
    for (auto [p, part] : llvm::enumerate(parts)) {
      Value values = loops.loadFirst(
          op.getValues(), {row, loops.index(part.first)}, part.second, lanes);
      Value sum = product.multiplyAdd(weight, values, before[p]);
      after[p] = isInside ? loops.choose(isInside, sum, before[p]) : sum;
    }
  };
  auto pass = [&](Value from, Value to, bool isPartial) {
    sums =
        loops.carry(from, to, sets, sums, [&](Value first, ValueRange carried) {
          SmallVector<Value> next(carried);
          for (int64_t set = 0; set < sets; ++set) {
            Value key = loops.plus(first, set), isInside;
            if (isPartial) {
              Value j = loops.clamp(key, op.getBegin(), last);
              isInside = loops.same(j, key);
              key = j;
            }
            size_t at = set * parts.size();
            add(key, carried.slice(at, parts.size()),
                MutableArrayRef(next).slice(at, parts.size()), isInside);
          }
          return next;
        });
  };
  // Sets go by the position of the key: groups of them count from key 0.
  Value begin = loops.floorTo(op.getBegin(), sets);
  Value from = loops.least(loops.floorTo(loops.plus(fullBegin, sets - 1), sets),
                           op.getEnd());
  from = loops.floorTo(loops.plus(from, sets - 1), sets);
  Value to = loops.most(from, loops.floorTo(fullEnd, sets));
  pass(begin, from, /*isPartial=*/true);
  pass(from, to, /*isPartial=*/false);
  pass(to, op.getEnd(), /*isPartial=*/true);
  for (int64_t half = sets / 2; half > 0; half /= 2)
    for (size_t at = 0; at < half * parts.size(); ++at)
      sums[at] = loops.add(sums[at], sums[at + half * parts.size()]);
  for (auto [p, part] : llvm::enumerate(parts)) {
    Value at = loops.index(part.first);
    Value before = loops.loadFirst(op.getSums(), at, part.second, lanes);
    loops.storeFirst(loops.add(before, sums[p]), op.getSums(), at, part.second);
  }
}

void RowUpdate::build() {
  constexpr size_t kTogether = 8;
  SmallVector<Part> all;
  forEachPart(loops.isa, widthOf(op.getSums()),
              [&](int64_t d, int64_t count) { all.push_back({d, count}); });
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
  total = prepareTotal(loops, sumOfLanes(loops, total), op.getNormalizer());
  forEachPart(isa, widthOf(op.getSums()), [&](int64_t d, int64_t count) {
    Value at = loops.index(d);
    Value sum = loops.loadFirst(op.getSums(), at, count, isa.lanes);
    loops.storeFirst(divideByTotal(loops, sum, total, op.getNormalizer()),
                     op.getRows(), {op.getFirst(), at}, count);
  });
}
