//===- QueryLoops.cpp - Keys, scores and probabilities of one query -------===//
//
// The constructor finds the row of keys, the position and the range of keys
// once. In the full form the keys are those of the sentence; ragged ones are
// those of the rows that it has. In the step form they are either shared
// by the rows of a sentence, or the latest positions in a cache, and a history
// may name the cache of each position.
//
// Probabilities of short floats are rounded. Their exponents are base 2 and
// shifted by a whole number, so a new maximum scales a probability by a power
// of two and keeps its digits: any tiling of the keys rounds the same
// probabilities.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/QueryLoops.h"
#include "dialect/attention/Attention.h"
#include "lib/CodeGen/Loops/CacheSlot.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

Value heddle::inlineRegion(Region &region, OpBuilder &builder,
                           ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

QueryLoops::QueryLoops(AttentionOp op, OpBuilder &builder, ValueRange row,
                       Value head)
    : op(op), loops(builder, op.getLoc()), row(row.begin(), row.end()),
      head(head) {
  locate();
}

void QueryLoops::locate() {
  firstKey = loops.index(0);
  if (op.getPositions()) {
    sentence = loops.toIndex(loops.load(op.getSentences(), row[0]));
    position = loops.toIndex(loops.load(op.getPositions(), row[0]));
  }
  if (op.isRagged()) {
    keyRow = loops.sub(row[0], position);
    keyCount = loops.toIndex(loops.load(op.getLengths(), sentence));
  } else if (!op.isStep()) {
    keyRow = sentence = row[0];
    position = row[1];
    if (op.getStarts()) {
      keyRow = loops.toIndex(loops.load(op.getStarts(), sentence));
      keyCount = loops.toIndex(loops.load(op.getLengths(), sentence));
    } else {
      keyCount = loops.size(op.getKey(), 1);
    }
  } else {
    keyCount = loops.size(op.getKey(), 1);
    keyRow = op.getShared() ? sentence
             : op.getCaches()
                 ? loops.toIndex(loops.load(op.getCaches(), row[0]))
                 : row[0];
    if (!op.getShared()) {
      // A cache holds the latest positions, up to the query's own.
      Value slots = keyCount;
      keyCount = loops.add(position, 1);
      Value oldest = loops.sub(keyCount, slots);
      // Pinned ones stay, and the mask has none between them and the ring.
      if (op.getPinned() == 0)
        firstKey = loops.max(oldest, loops.index(0));
    }
  }
  kvHead = head;
  if (int64_t group = op.getHeads() / op.getKeyValueHeads(); group > 1)
    kvHead = loops.udiv(head, group);
  queryOffset = loops.mul(head, op.getQueryWidth());
  keyOffset = loops.mul(kvHead, op.getKeyWidth());
  valueOffset = loops.mul(kvHead, op.getValueWidth());
}

/// Where position j stands in the keys.
Value QueryLoops::slotOf(Value j) {
  if (!op.isStep() || op.getShared())
    return j;
  return buildCacheSlot(loops.builder, loops.loc, j, loops.size(op.getKey(), 1),
                        op.getPinned());
}

SmallVector<Value> QueryLoops::keyAt(Value j) {
  if (op.hasRaggedKeys())
    return {loops.add(keyRow, j)};
  if (!op.getHistory())
    return {keyRow, slotOf(j)};
  return {loops.toIndex(loops.load(op.getHistory(), {row[0], j})), slotOf(j)};
}

Value QueryLoops::isAllowed(Value j) {
  Lanes lanes(loops.builder, loops.loc);
  if (!op.getMask())
    return lanes.i1(true);
  return op.getMaskOp().contains(lanes,
                                 {loops.toI32(sentence), loops.toI32(head),
                                  loops.toI32(position), loops.toI32(j)});
}

Value QueryLoops::widen(Value element) {
  Type from = getElementTypeOrSelf(element), f32 = loops.builder.getF32Type();
  if (from == f32)
    return element;
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    f32 = vector.clone(f32);
  if (from.isInteger(8))
    return arith::SIToFPOp::create(loops.builder, loops.loc, f32, element);
  return arith::ExtFOp::create(loops.builder, loops.loc, f32, element);
}

Value QueryLoops::vectorAt(Value memref, ValueRange at, int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return widen(vector::LoadOp::create(
      loops.builder, loops.loc, VectorType::get(width, element), memref, at));
}

/// Integers of the key or value at `key`, if they have scales, times theirs.
Value QueryLoops::scaled(Value x, Value scales, ValueRange key) {
  if (!scales)
    return x;
  Value scale = loops.load(scales, append(key, kvHead));
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    scale = loops.broadcast(scale, vector.getNumElements());
  return loops.mul(x, scale);
}

Value QueryLoops::multiply(ValueRange key) {
  return loops.fold(loops.index(0), loops.index(op.getKeyWidth()), loops.f32(0),
                    [&](Value d, Value sum) {
                      Value k = loadKey(key, d), q = loadQuery(d);
                      return loops.add(sum, loops.mul(q, k));
                    });
}

Value QueryLoops::loadQuery(Value d) {
  Value at = loops.add(queryOffset, d);
  return widen(loops.load(op.getQuery(), append(row, at)));
}

Value QueryLoops::loadKey(ValueRange key, Value d) {
  Value at = loops.add(keyOffset, d);
  return scaled(widen(loops.load(op.getKey(), append(key, at))),
                op.getKeyScales(), key);
}

Value QueryLoops::loadValue(ValueRange key, Value d) {
  Value at = loops.add(valueOffset, d);
  return scaled(widen(loops.load(op.getValue(), append(key, at))),
                op.getValueScales(), key);
}

SmallVector<Value> QueryLoops::resultAt(Value d) {
  Value first = loops.mul(head, op.getValueWidth());
  return append(row, loops.add(first, d));
}

/// What the region of scores, if there is one, makes of a similarity.
Value QueryLoops::adjust(Value similarity, Value j) {
  if (op.getScore().empty())
    return similarity;
  return inlineRegion(op.getScore(), loops.builder,
                      {similarity, loops.toI32(sentence), loops.toI32(head),
                       loops.toI32(position), loops.toI32(j)});
}

/// The products of the query and of key j with the vectors of their relative
/// position.
Value QueryLoops::relativeProducts(ValueRange key, Value j) {
  Value tables[] = {op.getRelativeKeys(), op.getRelativeQueries()};
  Value any = tables[0] ? tables[0] : tables[1];
  int64_t far = cast<MemRefType>(any.getType()).getDimSize(1) / 2;
  Value column = loops.sub(loops.add(position, far), j);
  column = loops.max(column, loops.index(0));
  column = loops.min(column, loops.index(2 * far));
  return loops.fold(loops.index(0), loops.index(op.getKeyWidth()), loops.f32(0),
                    [&](Value d, Value sum) {
                      auto addProduct = [&](Value table, Value factor) {
                        Value vector = loops.load(
                            table, {loops.add(queryOffset, d), column});
                        sum = loops.add(sum, loops.mul(factor, vector));
                      };
                      if (tables[0])
                        addProduct(tables[0], loadQuery(d));
                      if (tables[1])
                        addProduct(tables[1], loadKey(key, d));
                      return sum;
                    });
}

Value QueryLoops::scoreOf(Value product, Value j) {
  return adjust(loops.mul(product, loops.f32(op.getEffectiveScale())), j);
}

Value QueryLoops::score(Value j) {
  SmallVector<Value> place = keyAt(j);
  if (op.isRelative())
    return scoreOf(loops.add(multiply(place), relativeProducts(place, j)), j);
  if (op.getSimilarity().empty())
    return scoreOf(multiply(place), j);
  Value q =
      vectorAt(op.getQuery(), append(row, queryOffset), op.getQueryWidth());
  Value k =
      scaled(vectorAt(op.getKey(), append(place, keyOffset), op.getKeyWidth()),
             op.getKeyScales(), place);
  return adjust(inlineRegion(op.getSimilarity(), loops.builder, {q, k}), j);
}

Value QueryLoops::exp2(Value x) {
  return math::Exp2Op::create(loops.builder, loops.loc, x);
}

Value QueryLoops::exponential(Value score, Value maximum) {
  Value difference = loops.sub(score, maximum);
  if (!op.isOfShortFloats())
    return loops.exp(difference);
  OpBuilder &builder = loops.builder;
  Value exponent = loops.mul(maximum, loops.f32(M_LOG2E));
  Value fraction = loops.sub(
      exponent, math::RoundEvenOp::create(builder, loops.loc, exponent));
  // From here on there are no digits behind the point, or the product is
  // infinite.
  Value isWhole = arith::CmpFOp::create(
      builder, loops.loc, arith::CmpFPredicate::OGE,
      math::AbsFOp::create(builder, loops.loc, exponent), loops.f32(0x1p23));
  fraction = loops.select(isWhole, loops.f32(0), fraction);
  return exp2(loops.add(loops.mul(difference, loops.f32(M_LOG2E)), fraction));
}

Value QueryLoops::exactProbabilityOf(Value score, Value maximum) {
  if (op.getNormalizer() == Normalizer::Softmax)
    return exponential(score, maximum);
  if (op.getNormalizer() == Normalizer::Region)
    return inlineRegion(op.getNormalizerRegion(), loops.builder, score);
  return score;
}

Value QueryLoops::probabilityOf(Value score, Value maximum) {
  Value probability = exactProbabilityOf(score, maximum);
  Type type = probabilityTypeOf(op);
  return isShortFloat(type)
             ? widen(roundTo(type, loops.builder, loops.loc, probability))
             : probability;
}
