#include "lib/CodeGen/AttentionLoops.h"
#include "lib/CodeGen/Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include <limits>

using namespace mlir;
using namespace heddle;

/// Clones a region of one block at the builder's insertion point; returns what
/// it yields.
static Value inlineRegion(Region &region, OpBuilder &builder,
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
  QueryLoops(AttentionOp op, OpBuilder &builder, ValueRange row, Value head)
      : op(op), loops(builder, op.getLoc()), row(row), head(head) {
    locate();
  }

  void build();

private:
  void locate();
  Value slotOf(Value j);
  Value isAllowed(Value j);
  Value score(Value j);
  Value weight(Value j, Value maximum);
  Value rowMaximum();

  AttentionOp op;
  Loops loops;
  /// Coordinates of the query and of the result: [b, i] or, in a step, [row].
  ValueRange row;
  Value head;
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
    keyRow = op.getShared() ? sentence : row[0];
    if (!op.getShared()) {
      // A cache holds the latest positions, up to the query's own.
      Value slots = keyCount;
      keyCount =
          arith::AddIOp::create(builder, loops.loc, position, loops.index(1));
      Value oldest = arith::SubIOp::create(builder, loops.loc, keyCount, slots);
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
  return arith::RemUIOp::create(loops.builder, loops.loc, j,
                                loops.size(op.getKey(), 1));
}

Value QueryLoops::isAllowed(Value j) {
  Lanes lanes(loops.builder, loops.loc);
  if (!op.getMask())
    return lanes.constant(true);
  return op.getMaskOp().contains(lanes,
                                 {loops.toI32(sentence), loops.toI32(head),
                                  loops.toI32(position), loops.toI32(j)});
}

Value QueryLoops::score(Value j) {
  OpBuilder &builder = loops.builder;
  Value slot = slotOf(j);
  Value result;
  if (op.getSimilarity().empty()) {
    Value dot = loops.fold(
        loops.index(0), loops.index(op.getKeyWidth()), loops.f32(0),
        [&](Value d, Value sum) {
          Value qd = arith::AddIOp::create(builder, loops.loc, queryOffset, d);
          Value kd = arith::AddIOp::create(builder, loops.loc, keyOffset, d);
          Value q = loops.load(op.getQuery(), append(row, qd));
          Value k = loops.load(op.getKey(), {keyRow, slot, kd});
          return loops.add(sum, loops.mul(q, k));
        });
    result = loops.mul(dot, loops.f32(op.getEffectiveScale()));
  } else {
    auto vector = [&](int64_t width) {
      return VectorType::get(width, builder.getF32Type());
    };
    Value q =
        vector::LoadOp::create(builder, loops.loc, vector(op.getQueryWidth()),
                               op.getQuery(), append(row, queryOffset));
    Value k = vector::LoadOp::create(builder, loops.loc,
                                     vector(op.getKeyWidth()), op.getKey(),
                                     ValueRange{keyRow, slot, keyOffset});
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

/// The weight of key j before it is divided by the sum.
Value QueryLoops::weight(Value j, Value maximum) {
  Value s = score(j);
  switch (op.getNormalizer()) {
  case Normalizer::Softmax:
    return loops.exp(loops.sub(s, maximum));
  case Normalizer::Sum:
  case Normalizer::None:
    return s;
  case Normalizer::Region:
    return inlineRegion(op.getWeighting(), loops.builder, s);
  }
  llvm_unreachable("all normalizers are listed");
}

void QueryLoops::build() {
  OpBuilder &builder = loops.builder;
  Value width = loops.index(op.getValueWidth());
  Value result = op.getDestination();
  Value resultOffset = arith::MulIOp::create(builder, loops.loc, head, width);
  auto at = [&](Value offset, Value d) -> Value {
    return arith::AddIOp::create(builder, loops.loc, offset, d);
  };
  auto forEachResult = [&](function_ref<Value(Value, Value)> update) {
    loops.loop(width, [&](Value d) {
      SmallVector<Value> place = append(row, at(resultOffset, d));
      loops.store(update(loops.load(result, place), d), result, place);
    });
  };

  loops.loop(width, [&](Value d) {
    loops.store(loops.f32(0), result, append(row, at(resultOffset, d)));
  });
  Value maximum =
      op.getNormalizer() == Normalizer::Softmax ? rowMaximum() : Value();
  Value total =
      loops.fold(firstKey, keyCount, loops.f32(0), [&](Value j, Value sum) {
        return loops.select(
            isAllowed(j),
            [&] {
              Value w = weight(j, maximum), slot = slotOf(j);
              forEachResult([&](Value y, Value d) {
                Value v = loops.load(op.getValue(),
                                     {keyRow, slot, at(valueOffset, d)});
                return loops.add(y, loops.mul(w, v));
              });
              return loops.add(sum, w);
            },
            sum);
      });
  if (op.getNormalizer() == Normalizer::None)
    return;
  Value empty = arith::CmpFOp::create(
      builder, loops.loc, arith::CmpFPredicate::OEQ, total, loops.f32(0));
  forEachResult([&](Value y, Value) -> Value {
    return arith::SelectOp::create(builder, loops.loc, empty, loops.f32(0),
                                   loops.div(y, total));
  });
}

void heddle::buildAttentionLoops(AttentionOp op, OpBuilder &builder) {
  Loops loops(builder, op.getLoc());
  int64_t leading = cast<MemRefType>(op.getQuery().getType()).getRank() - 1;
  loops.nest(op.getQuery(), leading, [&](ValueRange row) {
    loops.loop(loops.index(op.getHeads()),
               [&](Value head) { QueryLoops(op, builder, row, head).build(); });
  });
}
