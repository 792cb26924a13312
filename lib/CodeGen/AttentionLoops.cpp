#include "lib/CodeGen/AttentionLoops.h"
#include "lib/CodeGen/CacheSlot.h"
#include "lib/CodeGen/Loops.h"
#include "lib/CodeGen/RoundToBf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>
#include <limits>

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

namespace {
/// The loops for one query of one head.
class QueryLoops {
public:
  /// `sums` [value width] is scratch memory. Results may take the place of
  /// queries: each is written last.
  QueryLoops(AttentionOp op, OpBuilder &builder, ValueRange row, Value head,
             Value sums)
      : op(op), loops(builder, op.getLoc()), row(row), head(head), sums(sums) {
    locate();
  }

  void build();

private:
  void locate();
  Value slotOf(Value j);
  SmallVector<Value> keyAt(Value j);
  Value isAllowed(Value j);
  Value widen(Value element);
  Value vectorAt(Value memref, ValueRange at, int64_t width);
  Value score(Value j);
  Value exponential(Value score, Value maximum);
  Value weight(Value j, Value maximum);
  Value rowMaximum();

  AttentionOp op;
  Loops loops;
  /// Coordinates of the query and of the result: [b, i] or, in a step, [row].
  ValueRange row;
  Value head, sums;
  /// Where the query stands: its key row, sentence and position.
  Value keyRow, sentence, position;
  /// Keys [firstKey, keyCount) exist; the mask decides among them.
  Value firstKey, keyCount;
  /// Offsets of the head inside the widths.
  Value queryOffset, keyOffset, valueOffset;
};
} // namespace

void QueryLoops::locate() {
  OpBuilder &builder = loops.builder;
  firstKey = loops.index(0);
  keyCount = loops.size(op.getKey(), 1);
  if (!op.isStep()) {
    keyRow = sentence = row[0];
    position = row[1];
  } else {
    sentence = loops.toIndex(loops.load(op.getSentences(), row[0]));
    position = loops.toIndex(loops.load(op.getPositions(), row[0]));
    keyRow = op.getShared() ? sentence
             : op.getCaches()
                 ? loops.toIndex(loops.load(op.getCaches(), row[0]))
                 : row[0];
    if (!op.getShared()) {
      // A cache holds the latest positions, up to the query's own.
      Value slots = keyCount;
      keyCount =
          arith::AddIOp::create(builder, loops.loc, position, loops.index(1));
      Value oldest = arith::SubIOp::create(builder, loops.loc, keyCount, slots);
      // Pinned ones stay, and the mask has none between them and the ring.
      if (op.getPinned() == 0)
        firstKey =
            arith::MaxSIOp::create(builder, loops.loc, oldest, loops.index(0));
    }
  }
  auto offset = [&](Value each, int64_t width) -> Value {
    return arith::MulIOp::create(builder, loops.loc, each, loops.index(width));
  };
  Value kvHead = head;
  if (int64_t group = op.getHeads() / op.getKeyValueHeads(); group > 1)
    kvHead =
        arith::DivUIOp::create(builder, loops.loc, head, loops.index(group));
  queryOffset = offset(head, op.getQueryWidth());
  keyOffset = offset(kvHead, op.getKeyWidth());
  valueOffset = offset(kvHead, op.getValueWidth());
}

/// Where position j stands in the keys.
Value QueryLoops::slotOf(Value j) {
  if (!op.isStep() || op.getShared())
    return j;
  return buildCacheSlot(loops.builder, loops.loc, j, loops.size(op.getKey(), 1),
                        op.getPinned());
}

/// The leading coordinates of key j and its value.
SmallVector<Value> QueryLoops::keyAt(Value j) {
  if (!op.getHistory())
    return {keyRow, slotOf(j)};
  return {loops.toIndex(loops.load(op.getHistory(), {row[0], j})), slotOf(j)};
}

Value QueryLoops::isAllowed(Value j) {
  Lanes lanes(loops.builder, loops.loc);
  if (!op.getMask())
    return lanes.constant(true);
  return op.getMaskOp().contains(lanes,
                                 {loops.toI32(sentence), loops.toI32(head),
                                  loops.toI32(position), loops.toI32(j)});
}

/// An element, or a vector of them, as f32.
Value QueryLoops::widen(Value element) {
  if (!op.isOfBf16())
    return element;
  Type f32 = loops.builder.getF32Type();
  if (auto vector = dyn_cast<VectorType>(element.getType()))
    f32 = vector.clone(f32);
  return arith::ExtFOp::create(loops.builder, loops.loc, f32, element);
}

Value QueryLoops::vectorAt(Value memref, ValueRange at, int64_t width) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return widen(vector::LoadOp::create(
      loops.builder, loops.loc, VectorType::get(width, element), memref, at));
}

Value QueryLoops::score(Value j) {
  OpBuilder &builder = loops.builder;
  SmallVector<Value> place = keyAt(j);
  Value result;
  if (op.getSimilarity().empty()) {
    Value dot = loops.fold(
        loops.index(0), loops.index(op.getKeyWidth()), loops.f32(0),
        [&](Value d, Value sum) {
          Value qd = arith::AddIOp::create(builder, loops.loc, queryOffset, d);
          Value kd = arith::AddIOp::create(builder, loops.loc, keyOffset, d);
          Value q = widen(loops.load(op.getQuery(), append(row, qd)));
          Value k = widen(loops.load(op.getKey(), append(place, kd)));
          return loops.add(sum, loops.mul(q, k));
        });
    result = loops.mul(dot, loops.f32(op.getEffectiveScale()));
  } else {
    Value q =
        vectorAt(op.getQuery(), append(row, queryOffset), op.getQueryWidth());
    Value k = vectorAt(op.getKey(), append(place, keyOffset), op.getKeyWidth());
    result = inlineRegion(op.getSimilarity(), builder, {q, k});
  }
  if (op.getScore().empty())
    return result;
  return inlineRegion(op.getScore(), builder,
                      {result, loops.toI32(sentence), loops.toI32(head),
                       loops.toI32(position), loops.toI32(j)});
}

/// The largest score of the row; 0 where no key is allowed or all scores are
/// -inf, so that no difference of infinities arises.
Value QueryLoops::rowMaximum() {
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  Value maximum =
      loops.fold(firstKey, keyCount, lowest, [&](Value j, Value so_far) {
        return loops.select(
            isAllowed(j), [&] { return loops.max(so_far, score(j)); }, so_far);
      });
  Value none = arith::CmpFOp::create(
      loops.builder, loops.loc, arith::CmpFPredicate::OEQ, maximum, lowest);
  return arith::SelectOp::create(loops.builder, loops.loc, none, loops.f32(0),
                                 maximum);
}

/// e^(score - maximum), of bf16 2^(score log2 e - n) with n the integer next to
/// maximum log2 e.
Value QueryLoops::exponential(Value score, Value maximum) {
  Value difference = loops.sub(score, maximum);
  if (!op.isOfBf16())
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
  fraction = arith::SelectOp::create(builder, loops.loc, isWhole, loops.f32(0),
                                     fraction);
  return math::Exp2Op::create(
      builder, loops.loc,
      loops.add(loops.mul(difference, loops.f32(M_LOG2E)), fraction));
}

/// The weight of key j before it is divided by the sum.
Value QueryLoops::weight(Value j, Value maximum) {
  Value result = score(j);
  if (op.getNormalizer() == Normalizer::Softmax)
    result = exponential(result, maximum);
  else if (op.getNormalizer() == Normalizer::Region)
    result = inlineRegion(op.getWeighting(), loops.builder, result);
  return op.isOfBf16() ? widen(roundToBf16(loops.builder, loops.loc, result))
                       : result;
}

void QueryLoops::build() {
  OpBuilder &builder = loops.builder;
  Value width = loops.index(op.getValueWidth());
  Value resultOffset = arith::MulIOp::create(builder, loops.loc, head, width);
  auto at = [&](Value offset, Value d) -> Value {
    return arith::AddIOp::create(builder, loops.loc, offset, d);
  };
  auto placeOf = [&](Value d) { return append(row, at(resultOffset, d)); };
  auto forEachSum = [&](function_ref<Value(Value, Value)> update) {
    loops.loop(width, [&](Value d) {
      loops.store(update(loops.load(sums, d), d), sums, d);
    });
  };

  loops.loop(width, [&](Value d) { loops.store(loops.f32(0), sums, d); });
  Value maximum =
      op.getNormalizer() == Normalizer::Softmax ? rowMaximum() : Value();
  Value total =
      loops.fold(firstKey, keyCount, loops.f32(0), [&](Value j, Value sum) {
        return loops.select(
            isAllowed(j),
            [&] {
              Value w = weight(j, maximum);
              SmallVector<Value> place = keyAt(j);
              forEachSum([&](Value y, Value d) {
                Value v = widen(loops.load(op.getValue(),
                                           append(place, at(valueOffset, d))));
                return loops.add(y, loops.mul(w, v));
              });
              return loops.add(sum, w);
            },
            sum);
      });
  if (op.getNormalizer() != Normalizer::None) {
    Value empty = arith::CmpFOp::create(
        builder, loops.loc, arith::CmpFPredicate::OEQ, total, loops.f32(0));
    forEachSum([&](Value y, Value) -> Value {
      return arith::SelectOp::create(builder, loops.loc, empty, loops.f32(0),
                                     loops.div(y, total));
    });
  }
  loops.loop(width, [&](Value d) {
    Value result = loops.load(sums, d);
    if (op.getRounds())
      result = roundToBf16(builder, loops.loc, result);
    loops.store(result, op.getDestination(), placeOf(d));
  });
}

void heddle::buildAttentionLoops(AttentionOp op, OpBuilder &builder) {
  Loops loops(builder, op.getLoc());
  Value sums = memref::AllocaOp::create(
      builder, op.getLoc(),
      MemRefType::get(op.getValueWidth(), builder.getF32Type()));
  int64_t leading = cast<MemRefType>(op.getQuery().getType()).getRank() - 1;
  loops.nest(op.getQuery(), leading, [&](ValueRange row) {
    loops.loop(loops.index(op.getHeads()), [&](Value head) {
      QueryLoops(op, builder, row, head, sums).build();
    });
  });
}
