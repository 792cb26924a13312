//===- OnlineBlockProbabilities.cpp - A block of queries by a tile --------===//
//
// A tile of K Q^T, some keys by all queries, or of what a similarity region has
// in its place, is summed in registers and becomes probabilities there. With
// softmax an exponent is one multiply-add of its score. Where a query's largest
// score of the tile exceeds its threshold, which is rare behind the first tile,
// the point that its exponents count from moves, and what the query has
// gathered so far shrinks; lanes that stay are multiplied by 1.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Attention/LaneRegion.h"
#include "lib/Kernels/Attention/OnlineBlock.h"
#include "lib/Kernels/Attention/OnlineBlockAmx.h"
#include "lib/Kernels/Attention/OnlineState.h"
#include "lib/Kernels/Attention/PairRegion.h"
#include "lib/Kernels/Attention/RelativeVectors.h"
#include "lib/Kernels/Math/VectorMath.h"
#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

static int64_t sizeOf(Value memref, int64_t axis) {
  return cast<MemRefType>(memref.getType()).getDimSize(axis);
}

namespace {
class BlockProbabilities {
public:
  BlockProbabilities(OnlineProbabilitiesOp op, OpBuilder &builder,
                     const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, elementOf(op.getQueries())),
        weighting(loops, elementOf(op.getProbabilities())),
        group(weighting.group()), math(builder, op.getLoc(), isa),
        vectors(sizeOf(op.getQueries(), 1) / isa.lanes), tile(op.getTile()),
        isSoftmax(op.getNormalizer() == Normalizer::Softmax),
        rule{op.getFactor().convertToDouble(), /*hasWholeShifts=*/group > 1},
        queries(product.flatten(op.getQueries())),
        probabilities(weighting.flatten(op.getProbabilities())) {}

  void build();

private:
  Value load(Value memref, Value row, int64_t vector);
  void store(Value value, Value memref, Value row, int64_t vector);
  Value state(StateRow row, int64_t vector);
  void setState(Value value, StateRow row, int64_t vector);
  template <typename Body> void forEachPair(Body body);

  Value positionOf(Value number);
  void bindRegions();
  Value rowOfKey(Value key, Value number);
  SmallVector<Value> dotProducts(Value key);
  SmallVector<Value> sumProducts(ArrayRef<Value> rows);
  void copyKeys(Value key);
  SmallVector<Value> similarities(Value key);
  SmallVector<Value> scores(Value key);
  SmallVector<Value> storedScores(Value row);
  void scale(MutableArrayRef<Value> scores);
  void addProducts(Value step, ArrayRef<Value> rows,
                   MutableArrayRef<Value> sums, bool isWhole);
  SmallVector<Value> masks(Value key);
  void applyScoreRegion(Value key, SmallVectorImpl<Value> &scores);
  SmallVector<Value> exponents(Value key, ArrayRef<Value> scores);
  void shrink(Value key, ArrayRef<Value> factors);
  Value pairOf(Value even, Value odd);
  void weigh(Value key, SmallVector<Value> scores, ArrayRef<Value> masks);
  Value probabilityOf(Value score, Value mask);
  void takeKeys(Value key, SmallVector<Value> scores);
  void byTiles(Value used);
  void leaveOut(Value begin);

  OnlineProbabilitiesOp op;
  VectorLoops loops;
  /// Of queries and keys, and of probabilities and values.
  MultiplyAdd product, weighting;
  /// Keys of a step of the latter.
  int64_t group;
  VectorMath math;
  /// Vectors of queries, and keys whose scores stay in registers.
  int64_t vectors, tile;
  bool isSoftmax;
  ExponentRule rule;
  /// In words of the steps that read them.
  Value queries, probabilities;
  /// The keys whose scores are computed: the op's or, from the beginning of a
  /// tile on, copies.
  Value keys;
  Value keyCount, batch, head;
  /// The keys of the tile that belong to all queries.
  Value fullBegin, fullEnd;
  /// Positions of the queries, a vector each.
  SmallVector<Value> positions;
  /// The regions for each vector of queries, as far as those alone decide.
  SmallVector<LaneRegion> scoreRegions;
  std::optional<PairRegion> similarity;
  std::optional<RelativeVectors> relative;
};
} // namespace

/// A vector with a query a lane: of f32, or of pairs of short floats.
Value BlockProbabilities::load(Value memref, Value row, int64_t vector) {
  bool isPaired = isShortFloat(elementOf(memref));
  int64_t elements = isPaired ? 2 * loops.isa.lanes : loops.isa.lanes;
  return loops.loadVector(memref, {row, loops.index(vector * elements)},
                          elements);
}
void BlockProbabilities::store(Value value, Value memref, Value row,
                               int64_t vector) {
  int64_t elements = cast<VectorType>(value.getType()).getNumElements();
  loops.storeVector(value, memref, {row, loops.index(vector * elements)});
}
Value BlockProbabilities::state(StateRow row, int64_t vector) {
  return load(op.getState(), loops.index(row), vector);
}
void BlockProbabilities::setState(Value value, StateRow row, int64_t vector) {
  store(value, op.getState(), loops.index(row), vector);
}

/// body(key of the tile, vector of queries, place in a list of the tile).
template <typename Body> void BlockProbabilities::forEachPair(Body body) {
  for (int64_t key = 0; key < tile; ++key)
    for (int64_t vector = 0; vector < vectors; ++vector)
      body(key, vector, key * vectors + vector);
}

/// The positions of queries or keys by their numbers.
Value BlockProbabilities::positionOf(Value number) {
  if (!op.getRemainder())
    return number;
  Lanes lanes(loops.builder, loops.loc);
  return lanes.add(lanes.mul(number, lanes.i32(op.getStride())),
                   loops.toI32(op.getRemainder()));
}

void BlockProbabilities::bindRegions() {
  int64_t lanes = loops.isa.lanes;
  batch = loops.toI32(op.getBatch());
  head = loops.toI32(op.getHead());
  if (!op.getSimilarity().empty())
    similarity.emplace(op.getSimilarity(), loops, PairRegion::Query, vectors,
                       [&](int64_t v, Value d) { return load(queries, d, v); });
  Value first = loops.broadcast(loops.toI32(op.getFirst()), lanes);
  for (int64_t v = 0; v < vectors; ++v) {
    positions.push_back(
        positionOf(loops.add(first, loops.iota(v * lanes, lanes))));
    if (op.getScore().empty())
      continue;
    LaneRegion region(op.getScore(), lanes);
    region.bind(loops, 1, batch);
    region.bind(loops, 2, head);
    region.bind(loops, 3, positions.back());
    scoreRegions.push_back(std::move(region));
  }
}

/// The row of `keys` that has key `number` of a tile. Those behind the last key
/// repeat it.
Value BlockProbabilities::rowOfKey(Value key, Value number) {
  if (op.getCopies())
    return number;
  return loops.min(loops.add(key, number), loops.add(keyCount, -1));
}

/// k_j . q for the keys of a tile, and their products with vectors of relative
/// positions.
SmallVector<Value> BlockProbabilities::dotProducts(Value key) {
  if (op.getCopies())
    copyKeys(key);
  SmallVector<Value> rows;
  for (int64_t k = 0; k < tile; ++k)
    rows.push_back(rowOfKey(key, loops.index(k)));
  return relative ? relative->ofTile(key, [&] { return sumProducts(rows); })
                  : sumProducts(rows);
}

/// All products of the tile's pairs, summed along the width.
SmallVector<Value> BlockProbabilities::sumProducts(ArrayRef<Value> rows) {
  int64_t lanes = loops.isa.lanes, width = sizeOf(op.getKeys(), 1);
  SmallVector<Value> sums(tile * vectors, loops.f32(0, lanes));
  // Narrow heads do little between the ends of a loop.
  int64_t steps = width / product.group();
  int64_t together = width <= 16 ? steps : steps % 4 == 0 ? 4 : 1;
  if (steps > 0)
    sums = loops.carry(loops.index(0), loops.index(steps), together, sums,
                       [&](Value first, ValueRange carried) {
                         SmallVector<Value> next(carried);
                         for (int64_t u = 0; u < together; ++u)
                           addProducts(loops.add(first, u), rows, next,
                                       /*isWhole=*/true);
                         return next;
                       });
  if (steps * product.group() < width)
    addProducts(loops.index(steps), rows, sums, /*isWhole=*/false);
  return sums;
}

/// The keys of a tile as f32. Rows behind the last key repeat it.
void BlockProbabilities::copyKeys(Value key) {
  int64_t lanes = loops.isa.lanes;
  Value last = loops.add(keyCount, -1);
  loops.each(loops.index(0), loops.index(tile), 1, [&](Value k) {
    Value row = loops.min(loops.add(key, k), last);
    Value scale;
    if (op.getScales())
      scale = scaleOf(loops, op.getScales(), row, lanes);
    forEachPart(lanes, sizeOf(op.getKeys(), 1), [&](int64_t d, int64_t count) {
      Value part =
          loops.loadFirst(op.getKeys(), {row, loops.index(d)}, count, lanes);
      part = asF32(loops, part);
      loops.storeFirst(scale ? loops.mul(part, scale) : part, op.getCopies(),
                       {k, loops.index(d)}, count);
    });
  });
}

/// What the similarity region makes of the keys of a tile, of some at once.
SmallVector<Value> BlockProbabilities::similarities(Value key) {
  if (op.getCopies())
    copyKeys(key);
  int64_t together = similarity->keysTogether(tile);
  auto some = [&](Value first) {
    SmallVector<Value> rows;
    for (int64_t k = 0; k < together; ++k)
      rows.push_back(rowOfKey(key, loops.add(first, k)));
    return similarity->scores(together, [&](int64_t k, Value d) {
      return loops.load(keys, {rows[k], d});
    });
  };
  if (together == tile)
    return some(loops.index(0));
  // In the end the first ones have moved to the front.
  SmallVector<Value> scores(tile * vectors, loops.f32(0, loops.isa.lanes));
  return loops.carry(loops.index(0), loops.index(tile), together, scores,
                     [&](Value first, ValueRange carried) {
                       SmallVector<Value> next(
                           carried.drop_front(together * vectors));
                       next.append(some(first));
                       return next;
                     });
}

SmallVector<Value> BlockProbabilities::scores(Value key) {
  if (similarity)
    return similarities(key);
  SmallVector<Value> scores = dotProducts(key);
  scale(scores);
  return scores;
}

/// The same from scratch memory, where tiles have left them.
SmallVector<Value> BlockProbabilities::storedScores(Value row) {
  SmallVector<Value> scores;
  forEachPair([&](int64_t k, int64_t v, int64_t) {
    scores.push_back(load(op.getScores(), loops.add(row, k), v));
  });
  scale(scores);
  return scores;
}

void BlockProbabilities::scale(MutableArrayRef<Value> scores) {
  float scale = op.getScale().convertToFloat();
  if (scale == 1)
    return;
  for (Value &score : scores)
    score = loops.mul(score, loops.f32(scale, loops.isa.lanes));
}

/// One step along the width, for the keys in `rows` and all queries.
void BlockProbabilities::addProducts(Value step, ArrayRef<Value> rows,
                                     MutableArrayRef<Value> sums,
                                     bool isWhole) {
  SmallVector<Value> factors;
  for (int64_t v = 0; v < vectors; ++v)
    factors.push_back(load(queries, step, v));
  for (int64_t k = 0; k < tile; ++k) {
    Value number =
        product.broadcast(keys, {rows[k], loops.mul(step, product.group())},
                          loops.isa.lanes, isWhole);
    for (int64_t v = 0; v < vectors; ++v) {
      Value &sum = sums[k * vectors + v];
      sum = product.multiplyAdd(number, factors[v], sum);
      if (Value table = op.getRelativeKeys())
        sum = loops.fma(relative->load(table, step, k, v), factors[v], sum);
      if (Value table = op.getRelativeQueries())
        sum = loops.fma(relative->load(table, step, k, v), number, sum);
    }
  }
}

/// For each pair of the tile whether it is in the mask, and the key exists.
SmallVector<Value> BlockProbabilities::masks(Value key) {
  Lanes lanes(loops.builder, loops.loc);
  SmallVector<Value> result;
  forEachPair([&](int64_t k, int64_t v, int64_t) {
    Value j = loops.add(key, k);
    Value allowed = loops.less(j, keyCount);
    if (MaskOpInterface mask = op.getMaskOp())
      allowed = lanes.logicalAnd(
          allowed, mask.contains(lanes, {batch, head, positions[v],
                                         positionOf(loops.toI32(j))}));
    if (!isa<VectorType>(allowed.getType()))
      allowed = loops.broadcast(allowed, loops.isa.lanes);
    result.push_back(allowed);
  });
  return result;
}

void BlockProbabilities::applyScoreRegion(Value key,
                                          SmallVectorImpl<Value> &scores) {
  if (scoreRegions.empty())
    return;
  forEachPair([&](int64_t k, int64_t v, int64_t at) {
    LaneRegion region = scoreRegions[v];
    region.bind(loops, 4, positionOf(loops.toI32(loops.add(key, k))));
    region.bind(loops, 0, scores[at]);
    scores[at] = region.result(loops);
  });
}

/// Multiplies what queries have gathered: their totals, their sums and the
/// probabilities of this op's keys before `key`.
void BlockProbabilities::shrink(Value key, ArrayRef<Value> factors) {
  auto scale = [&](Value memref, Value row) {
    for (int64_t v = 0; v < vectors; ++v)
      store(loops.mul(load(memref, row, v), factors[v]), memref, row, v);
  };
  scale(op.getState(), loops.index(kTotal));
  loops.each(loops.index(0), loops.index(sizeOf(op.getSums(), 0)), 1,
             [&](Value d) { scale(op.getSums(), d); });
  Value rows = loops.udiv(loops.sub(key, op.getBegin()), group);
  loops.each(loops.index(0), rows, 1, [&](Value row) {
    if (group == 1)
      return scale(probabilities, row);
    for (int64_t v = 0; v < vectors; ++v) {
      Value pair = load(probabilities, row, v);
      auto shrunk = [&](bool isOdd) {
        return loops.mul(weighting.widen(pair, isOdd), factors[v]);
      };
      store(pairOf(shrunk(/*isOdd=*/false), shrunk(/*isOdd=*/true)),
            probabilities, row, v);
    }
  });
}

/// The probabilities of two keys, rounded.
Value BlockProbabilities::pairOf(Value even, Value odd) {
  Type element = elementOf(op.getProbabilities());
  return loops.interleave(roundTo(element, even, math),
                          roundTo(element, odd, math));
}

/// The exponents of a tile, from reference points that move where they have to.
SmallVector<Value> BlockProbabilities::exponents(Value key,
                                                 ArrayRef<Value> scores) {
  double factor = rule.factor;
  SmallVector<Value> largest(scores.take_front(vectors)), exceeds, result;
  for (int64_t k = 1; k < tile; ++k)
    for (int64_t v = 0; v < vectors; ++v)
      largest[v] = loops.selectMax(scores[k * vectors + v], largest[v]);
  for (int64_t v = 0; v < vectors; ++v)
    exceeds.push_back(loops.greater(largest[v], state(kThreshold, v)));
  auto look = [&] {
    SmallVector<PointMove> moves;
    SmallVector<Value> shrinks, factors;
    for (int64_t v = 0; v < vectors; ++v) {
      Value column = loops.index(v * loops.isa.lanes);
      moves.push_back(
          followMaximum(loops, math, largest[v], rule,
                        ReferencePoint::load(loops, op.getState(), column)));
      moves[v].point.store(loops, op.getState(), column);
      shrinks.push_back(moves[v].shrinks);
      factors.push_back(moves[v].shrinkage);
    }
    loops.ifThen(loops.any(shrinks), [&] { shrink(key, factors); });
    forEachPair([&](int64_t, int64_t v, int64_t at) {
      result.push_back(exponent(loops, scores[at], factor, moves[v].point));
    });
    return result;
  };
  // All offsets are 0 here.
  auto multiply = [&] {
    result.clear();
    Value factors = loops.f32(factor, loops.isa.lanes);
    forEachPair([&](int64_t, int64_t v, int64_t at) {
      result.push_back(loops.fma(scores[at], factors, state(kNegatedShift, v)));
    });
    return result;
  };
  return loops.ifYield(loops.any(exceeds), look, multiply);
}

/// The probability of a score or an exponent, marked outside of `mask`, which
/// may be null.
Value BlockProbabilities::probabilityOf(Value score, Value mask) {
  int64_t lanes = loops.isa.lanes;
  Value probability = score;
  if (op.getNormalizer() == Normalizer::Region) {
    LaneRegion region(op.getNormalizerRegion(), lanes);
    region.bind(loops, 0, probability);
    probability = region.result(loops);
  }
  // 0 + -0.0 is 0: only pairs outside the mask are marked.
  probability = isSoftmax ? math.exp2(probability)
                          : loops.add(probability, loops.f32(0, lanes));
  return mask ? loops.select(mask, probability, outsideMask(loops, lanes))
              : probability;
}

/// Stores the probabilities of a tile and adds them to the totals; `masks` is
/// empty where all of its pairs are in the mask.
void BlockProbabilities::weigh(Value key, SmallVector<Value> scores,
                               ArrayRef<Value> masks) {
  applyScoreRegion(key, scores);
  if (isSoftmax) {
    Value lowest = loops.f32(-INFINITY, loops.isa.lanes);
    if (!masks.empty())
      forEachPair([&](int64_t, int64_t, int64_t at) {
        scores[at] = loops.select(masks[at], scores[at], lowest);
      });
    scores = exponents(key, scores);
  }
  SmallVector<Value> totals;
  for (int64_t v = 0; v < vectors; ++v)
    totals.push_back(state(kTotal, v));
  auto probabilityAt = [&](int64_t at) {
    return probabilityOf(scores[at], masks.empty() ? Value() : masks[at]);
  };
  Value row = loops.udiv(loops.sub(key, op.getBegin()), group);
  forEachPair([&](int64_t k, int64_t v, int64_t at) {
    if (k % group != 0)
      return;
    Value factor = probabilityAt(at);
    if (group > 1)
      factor = pairOf(factor, probabilityAt(at + vectors));
    totals[v] = weighting.addElements(factor, totals[v]);
    store(factor, probabilities, loops.add(row, k / group), v);
  });
  for (int64_t v = 0; v < vectors; ++v)
    setState(totals[v], kTotal, v);
}

void BlockProbabilities::takeKeys(Value key, SmallVector<Value> scores) {
  Value isFull =
      loops.logicalAnd(loops.lessOrEqual(fullBegin, key),
                       loops.lessOrEqual(loops.add(key, tile), fullEnd));
  loops.ifElse(
      isFull, [&] { weigh(key, scores, {}); },
      [&] { weigh(key, scores, masks(key)); });
}

/// A group of keys is scored at once, and its scores used before the next.
void BlockProbabilities::byTiles(Value used) {
  loops.each(op.getBegin(), used, kKeyGroup, [&](Value group) {
    emitAmxScores(loops, op, queries, group);
    Value end = loops.min(loops.add(group, kKeyGroup), used);
    loops.each(group, end, tile, [&](Value key) {
      takeKeys(key, storedScores(loops.sub(key, group)));
    });
  });
}

/// Keys from `begin` on are in no mask.
void BlockProbabilities::leaveOut(Value begin) {
  Value outside = outsideMask(loops, loops.isa.lanes);
  Value pair = pairOf(outside, outside);
  loops.each(begin, op.getEnd(), group, [&](Value key) {
    Value row = loops.udiv(loops.sub(key, op.getBegin()), group);
    for (int64_t v = 0; v < vectors; ++v)
      store(pair, probabilities, row, v);
  });
}

void BlockProbabilities::build() {
  keyCount = loops.size(op.getKeys(), 0);
  keys = op.getCopies() ? op.getCopies() : op.getKeys();
  if (op.isRelative())
    relative.emplace(op, loops, tile, vectors);
  bindRegions();
  std::tie(fullBegin, fullEnd) =
      fullPart(loops, op.getBegin(), loops.min(op.getEnd(), keyCount),
               op.getFullBegin(), op.getFullEnd());
  // Rows behind the last key are no work, but tiles read their probabilities.
  bool hasGroups = op.getScores() || (op.readsF32() && group > 1);
  Value used = op.getEnd();
  if (hasGroups)
    used = loops.min(used, loops.floorTo(loops.add(keyCount, tile - 1), tile));
  if (op.getScores())
    byTiles(used);
  else
    loops.each(op.getBegin(), used, tile,
               [&](Value key) { takeKeys(key, scores(key)); });
  if (hasGroups)
    leaveOut(used);
}

void heddle::emitBlock(OnlineProbabilitiesOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  BlockProbabilities(op, builder, isa).build();
}
