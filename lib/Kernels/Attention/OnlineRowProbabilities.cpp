//===- OnlineRowProbabilities.cpp - One query by a tile of keys -----------===//
//
// Scores of as many keys as a vector has lanes are dot products that a tree of
// shuffles and additions sums, all at once. With softmax they wait in scratch
// memory until the largest of the tile is known. A similarity region has keys
// in lanes: those of a tile are transposed first.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/LaneRegion.h"
#include "lib/Kernels/Attention/OnlineRow.h"
#include "lib/Kernels/Attention/OnlineState.h"
#include "lib/Kernels/Attention/PairRegion.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"

using namespace mlir;
using namespace heddle;

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

namespace {
class RowProbabilities {
public:
  RowProbabilities(OnlineProbabilitiesOp op, OpBuilder &builder,
                   const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops,
                elementOf(op.getScales() ? op.getQueries() : op.getKeys())),
        math(builder, op.getLoc(), isa), lanes(isa.lanes),
        elements(lanes * product.group()),
        isSoftmax(op.getNormalizer() == Normalizer::Softmax),
        rule{op.getFactor().convertToDouble(),
             /*hasWholeShifts=*/product.group() > 1},
        waiting(op.getScores() ? op.getScores() : op.getProbabilities()),
        places{op.getOrigin(), op.getList(), op.getHistory(), op.getCacheRows(),
               int64_t(op.getPinned())} {}

  void build();

private:
  Value state(StateRow row);
  void setState(Value value, StateRow row);
  Value probabilitiesAt(Value key);
  void forEachTile(Value initial,
                   function_ref<Value(Value key, Value carried)> body,
                   function_ref<void(Value)> last);

  SmallVector<Value> loadQuery();
  Value rowAt(Value key, int64_t number);
  Value dotProducts(function_ref<Value(int64_t)> rowOfKey);
  Value dotProducts(Value key);
  void copyKeys(Value key);
  Value scores(Value key);
  Value mask(Value numbers, Value positions);
  Value positionsOf(Value key, Value numbers);
  Value scoredTile(Value key);
  Value probability(Value score);
  Value storeProbabilities(Value probabilities, Value at);
  ReferencePoint movePoint(Value largest);

  OnlineProbabilitiesOp op;
  VectorLoops loops;
  MultiplyAdd product;
  VectorMath math;
  /// Keys of a tile, and elements of a vector that is multiplied.
  int64_t lanes, elements;
  bool isSoftmax;
  ExponentRule rule;
  /// Where scores are until the largest one is known.
  Value waiting;
  KeyPlaces places;
  Value batch, head, position;
  /// Empty of short floats: levels without them have no vectors that live from
  /// tile to tile, but LLVM takes the loads out of the loop with what is made
  /// of them.
  SmallVector<Value> query;
  std::optional<PairRegion> similarity;
};
} // namespace

Value RowProbabilities::state(StateRow row) {
  return loops.loadVector(op.getState(), {loops.index(row), loops.index(0)},
                          lanes);
}
void RowProbabilities::setState(Value value, StateRow row) {
  loops.storeVector(value, op.getState(), {loops.index(row), loops.index(0)});
}
Value RowProbabilities::probabilitiesAt(Value key) {
  return loops.sub(key, loops.floorTo(op.getBegin(), lanes));
}

SmallVector<Value> RowProbabilities::loadQuery() {
  SmallVector<Value> parts;
  forEachPart(elements, widthOf(op.getQueries()),
              [&](int64_t d, int64_t count) {
                parts.push_back(loops.loadFirst(op.getQueries(), loops.index(d),
                                                count, elements));
              });
  return parts;
}

/// Where a key of the tile at `key` stands, which is asked for in the next one;
/// keys outside of [begin, end) stand for their neighbours inside, and lists
/// repeat their last one.
Value RowProbabilities::rowAt(Value key, int64_t number) {
  if (op.getList()) {
    Value j = loops.add(key, number);
    Value row = rowOf(loops, places, j, op.getKeys());
    if (op.getFetched())
      prefetchListedRow(loops, op.getFetched(), row);
    prefetchListedRow(loops, op.getKeys(),
                      rowOf(loops, places, loops.add(j, lanes), op.getKeys()));
    return row;
  }
  Value last = loops.add(op.getEnd(), -1);
  Value j = loops.clamp(loops.add(key, number), op.getBegin(), last);
  Value next = loops.min(loops.add(j, lanes), last);
  Value row = rowOf(loops, places, j, op.getKeys());
  prefetchRow(loops, op.getKeys(), rowOf(loops, places, next, op.getKeys()));
  return row;
}

/// The dot products of the query with the keys of a tile, by their rows.
Value RowProbabilities::dotProducts(function_ref<Value(int64_t)> rowOfKey) {
  SmallVector<Value> factors = query.empty() ? loadQuery() : query;
  SmallVector<Value> products;
  for (int64_t k = 0; k < lanes; ++k) {
    Value row = rowOfKey(k), sum;
    forEachPart(elements, widthOf(op.getKeys()), [&](int64_t d, int64_t count) {
      Value part =
          loops.loadFirst(op.getKeys(), {row, loops.index(d)}, count, elements);
      if (product.group() == 1)
        part = asF32(loops, part);
      Value factor = factors[d / elements];
      sum = product.multiplyAdd(part, factor, sum);
    });
    if (op.getScales())
      sum = loops.mul(sum, scaleOf(loops, op.getScales(), row, lanes));
    products.push_back(sum);
  }
  return sumsOfLanes(loops, products);
}

/// Most tiles are whole, and their rows one run: these need no arithmetic.
Value RowProbabilities::dotProducts(Value key) {
  auto ofKeys = [&] {
    return dotProducts([&](int64_t number) { return rowAt(key, number); });
  };
  if (op.getList() || op.getHistory())
    return ofKeys();
  RowRun run = runOf(loops, places, key, lanes, op.getKeys());
  Value isInside =
      loops.logicalAnd(loops.lessOrEqual(op.getBegin(), key),
                       loops.lessOrEqual(loops.add(key, lanes), op.getEnd()));
  return loops
      .ifYield(
          loops.logicalAnd(run.isWhole, isInside),
          [&] {
            return SmallVector<Value>{dotProducts([&](int64_t number) {
              Value row = loops.add(run.first, number);
              prefetchRow(loops, op.getKeys(), loops.add(row, lanes));
              return row;
            })};
          },
          [&] { return SmallVector<Value>{ofKeys()}; })
      .front();
}

/// The keys of a tile, a column each, as f32.
void RowProbabilities::copyKeys(Value key) {
  SmallVector<Value> rows;
  for (int64_t k = 0; k < lanes; ++k)
    rows.push_back(rowAt(key, k));
  auto square = [&](Value d, int64_t count) {
    SmallVector<Value> parts;
    for (Value row : rows) {
      Value part =
          asF32(loops, loops.loadFirst(op.getKeys(), {row, d}, count, lanes));
      if (op.getScales())
        part = loops.mul(part, scaleOf(loops, op.getScales(), row, lanes));
      parts.push_back(part);
    }
    parts = loops.transpose(parts);
    for (int64_t i = 0; i < count; ++i)
      loops.storeVector(parts[i], op.getCopies(),
                        {loops.add(d, i), loops.index(0)});
  };
  int64_t width = widthOf(op.getKeys()), whole = width / lanes * lanes;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), lanes,
               [&](Value d) { square(d, lanes); });
  if (whole < width)
    square(loops.index(whole), width - whole);
}

/// The scores of the keys of a tile.
Value RowProbabilities::scores(Value key) {
  if (similarity) {
    copyKeys(key);
    return similarity
        ->scores(1,
                 [&](int64_t, Value d) {
                   return loops.loadVector(op.getCopies(), {d, loops.index(0)},
                                           lanes);
                 })
        .front();
  }
  Value sums = dotProducts(key);
  float scale = op.getScale().convertToFloat();
  return scale == 1 ? sums : loops.mul(sums, loops.f32(scale, lanes));
}

/// Which keys of a tile are in [begin, end) and in the mask; `numbers` are
/// those of a list, which `positions` have been read from.
Value RowProbabilities::mask(Value numbers, Value positions) {
  Lanes predicate(loops.builder, loops.loc);
  Value allowed = predicate.logicalAnd(
      predicate.lessOrEqual(loops.toI32(op.getBegin()), numbers),
      predicate.less(numbers, loops.toI32(op.getEnd())));
  if (MaskOpInterface mask = op.getMaskOp())
    allowed = predicate.logicalAnd(
        allowed, mask.contains(predicate, {batch, head, position, positions}));
  return allowed;
}

/// The positions of keys by their numbers.
Value RowProbabilities::positionsOf(Value key, Value numbers) {
  if (op.getList())
    return loops.loadVector(op.getList(), key, lanes);
  if (!op.getRemainder())
    return numbers;
  Lanes strided(loops.builder, loops.loc);
  return strided.add(strided.mul(numbers, strided.i32(op.getStride())),
                     loops.toI32(op.getRemainder()));
}

Value RowProbabilities::probability(Value score) {
  if (op.getNormalizer() == Normalizer::Region) {
    LaneRegion region(op.getNormalizerRegion(), lanes);
    region.bind(loops, 0, score);
    score = region.result(loops);
  }
  // 0 + -0.0 is 0: only keys outside the mask are marked.
  return loops.add(score, loops.f32(0, lanes));
}

/// Scores of a tile, -inf outside the mask; or probabilities, marked there,
/// where there is no maximum to wait for.
Value RowProbabilities::scoredTile(Value key) {
  Value score = scores(key);
  Value numbers =
      loops.add(loops.broadcast(loops.toI32(key), lanes), loops.iota(0, lanes));
  Value positions = positionsOf(key, numbers);
  if (!op.getScore().empty()) {
    LaneRegion region(op.getScore(), lanes);
    Value arguments[] = {score, batch, head, position, positions};
    for (auto [argument, value] : llvm::enumerate(arguments))
      region.bind(loops, argument, value);
    score = region.result(loops);
  }
  if (!isSoftmax)
    score = probability(score);
  auto [from, to] = fullPart(loops, op.getBegin(), op.getEnd(),
                             op.getFullBegin(), op.getFullEnd());
  Value isPartial = loops.logicalOr(loops.less(key, from),
                                    loops.less(to, loops.add(key, lanes)));
  auto limit = [&] {
    Value outside =
        isSoftmax ? loops.f32(-INFINITY, lanes) : outsideMask(loops, lanes);
    return SmallVector<Value>{
        loops.select(mask(numbers, positions), score, outside)};
  };
  auto all = [&] { return SmallVector<Value>{score}; };
  return loops.ifYield(isPartial, limit, all).front();
}

/// Stores the probabilities of a tile, rounded to what they stand in; returns
/// what the total gets.
Value RowProbabilities::storeProbabilities(Value probabilities, Value at) {
  Type element = elementOf(op.getProbabilities());
  if (element.isF32()) {
    loops.storeVector(probabilities, op.getProbabilities(), at);
    return probabilities;
  }
  Value rounded = roundTo(element, probabilities, math);
  loops.storeVector(rounded, op.getProbabilities(), at);
  return loops.widen(rounded);
}

/// Where exponents count from once the largest score is known; shrinks what was
/// gathered before.
ReferencePoint RowProbabilities::movePoint(Value largest) {
  Value column = loops.index(0);
  PointMove move =
      followMaximum(loops, math, loops.reduceMax(largest), rule,
                    ReferencePoint::load(loops, op.getState(), column));
  move.point.store(loops, op.getState(), column);
  loops.ifThen(loops.any(move.shrinks), [&] {
    setState(loops.mul(state(kTotal), move.shrinkage), kTotal);
    forEachPart(lanes, widthOf(op.getSums()), [&](int64_t d, int64_t count) {
      Value at = loops.index(d);
      Value sum = loops.loadFirst(op.getSums(), at, count, lanes);
      loops.storeFirst(loops.mul(sum, move.shrinkage), op.getSums(), at, count);
    });
  });
  return move.point;
}

void RowProbabilities::build() {
  batch = loops.toI32(op.getBatch());
  head = loops.toI32(op.getHead());
  position = loops.toI32(op.getFirst());
  if (!op.getSimilarity().empty())
    similarity.emplace(
        op.getSimilarity(), loops, PairRegion::Key, /*queries=*/1,
        [&](int64_t, Value d) { return loops.load(op.getQueries(), d); });
  else if (product.group() == 1)
    query = loadQuery();
  Value begin = loops.floorTo(op.getBegin(), lanes);
  Value initial = isSoftmax ? loops.f32(-INFINITY, lanes) : state(kTotal);
  Value carried = loops
                      .carry(begin, op.getEnd(), lanes, initial,
                             [&](Value key, ValueRange carried) {
                               Value tile = scoredTile(key),
                                     at = probabilitiesAt(key);
                               if (!isSoftmax) {
                                 tile = storeProbabilities(tile, at);
                                 return SmallVector<Value>{
                                     loops.add(carried.front(), tile)};
                               }
                               loops.storeVector(tile, waiting, at);
                               return SmallVector<Value>{
                                   loops.selectMax(tile, carried.front())};
                             })
                      .front();
  if (!isSoftmax)
    return setState(carried, kTotal);
  ReferencePoint point = movePoint(carried);
  Value lowest = loops.f32(-INFINITY, lanes);
  SmallVector<Value> total = loops.carry(
      begin, op.getEnd(), lanes, state(kTotal),
      [&](Value key, ValueRange carried) {
        Value at = probabilitiesAt(key);
        Value score = loops.loadVector(waiting, at, lanes);
        Value isOutside = loops.equal(score, lowest);
        Value probability =
            loops.select(isOutside, outsideMask(loops, lanes),
                         math.exp2(exponent(loops, score, rule.factor, point)));
        probability = storeProbabilities(probability, at);
        return SmallVector<Value>{loops.add(carried.front(), probability)};
      });
  setState(total.front(), kTotal);
}

void heddle::emitRow(OnlineProbabilitiesOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  RowProbabilities(op, builder, isa).build();
}
