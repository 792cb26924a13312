//===- ChoiceLoops.cpp - Loops of largest_logits and best_logits ----------===//
//
// The logits of a row are stored as a whole; then each range of the vocabulary
// is read for what is kept of it. Forbidden ids become -inf in between: behind
// the sums, or in front of them where the row's list ends in kSumsOfAllowed.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/ChoiceLoops.h"
#include "lib/CodeGen/Loops/ProductLoops.h"
#include "lib/CodeGen/Loops/RankedList.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/artifact/ArtifactFormat.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();
/// Stands for a maximum of -inf, of which no difference is a number.
static constexpr float kLowestNumber = std::numeric_limits<float>::lowest();

/// Calls `body` with each row and memory that holds its logits.
static void forEachRow(RangedLogitsOpInterface op, Loops &loops,
                       function_ref<void(Value, Value)> body) {
  Value logits = memref::AllocaOp::create(
      loops.builder, loops.loc,
      MemRefType::get(int64_t(op.getVocabulary()), loops.builder.getF32Type()));
  ProductWeight weight =
      productWeight(op.getInput(), op.getWeight(), op.getWeightScales(),
                    op.getBias(), int64_t(op.getVocabulary()), loops);
  int64_t shift = op.getShiftAttr() ? op.getShiftAttr().getInt() : 0;
  loops.nest(op.getInput(), 1, [&](ValueRange row) {
    multiplyRow({op.getInput(), {row[0]}, op.getInputScales(), shift}, weight,
                /*part=*/0, logits, {}, loops);
    body(row[0], logits);
  });
}

/// Calls `body` with each range, its first id and the one behind it.
static void forEachRange(RangedLogitsOpInterface op, Loops &loops,
                         function_ref<void(Value, Value, Value)> body) {
  Value length = loops.index(int64_t(op.getRange()));
  loops.loop(loops.index(op.getNumRanges()), [&](Value k) {
    Value begin = loops.mul(k, length);
    Value end = loops.umin(loops.add(begin, length),
                           loops.index(int64_t(op.getVocabulary())));
    body(k, begin, end);
  });
}

/// Makes -inf of what a row of all logits has at forbidden ids: those in front
/// of the first negative one.
static void forbid(RangedLogitsOpInterface op, Value row, Value logits,
                   Loops &loops) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value lowest = loops.f32(kLowest), ids = op.getForbidden();
  Value none = loops.i32(-1);
  Value yes = loops.i1(true);
  loops.fold(
      loops.index(0), loops.lastSize(ids), yes, [&](Value f, Value isListed) {
        Value number = loops.load(ids, {row, f});
        Value isThere = loops.logicalAnd(isListed, loops.greater(number, none));
        Value id = loops.toIndex(number);
        Value isId = loops.logicalAnd(
            isThere, loops.uless(id, loops.index(int64_t(op.getVocabulary()))));
        scf::IfOp::create(builder, loc, isId, [&](OpBuilder &, Location) {
          loops.store(lowest, logits, id);
          scf::YieldOp::create(builder, loc);
        });
        return isThere;
      });
}

/// Whether what a row forbids is to be in no sum.
static Value sumsLeaveOutForbidden(RangedLogitsOpInterface op, Value row,
                                   Loops &loops) {
  Value ids = op.getForbidden(), count = loops.lastSize(ids);
  Value isThere = loops.notEqual(count, loops.index(0));
  auto isMark = [&]() -> Value {
    Value last = loops.sub(count, loops.index(1));
    Value mark = loops.i32(kSumsOfAllowed);
    return loops.equal(loops.load(ids, {row, last}), mark);
  };
  Value no = loops.i1(false);
  return loops.ifYield(isThere, isMark, no);
}

/// Takes logit n of a row for the largest one of range `at` where it is.
static void takeLargest(LargestLogitsOp op, Value logits, Value n,
                        ValueRange at, Loops &loops) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value values = op.getDestinations()[0], ids = op.getDestinations()[1];
  Value l = loops.load(logits, n), best = loops.load(values, at);
  Value id = loops.load(ids, at), number = loops.toI32(n);
  Value none = loops.i32(-1);
  Value hasNone = loops.equal(id, none);
  Value isAbove =
      loops.greater(l, loops.select(hasNone, loops.f32(kLowest), best));
  Value isNaN =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, l, l);
  Value isTaken = loops.logicalOr(isAbove, loops.logicalAnd(hasNone, isNaN));
  loops.store(loops.select(isTaken, l, best), values, at);
  loops.store(loops.select(isAbove, number, id), ids, at);
}

void heddle::loopOverLargest(LargestLogitsOp op, Loops &loops) {
  Value values = op.getDestinations()[0], ids = op.getDestinations()[1];
  Value lowest = loops.f32(kLowest);
  Value none = loops.i32(-1);
  forEachRow(op, loops, [&](Value row, Value logits) {
    forbid(op, row, logits, loops);
    forEachRange(op, loops, [&](Value k, Value begin, Value end) {
      loops.store(lowest, values, {row, k});
      loops.store(none, ids, {row, k});
      loops.loop(begin, end,
                 [&](Value n) { takeLargest(op, logits, n, {row, k}, loops); });
    });
  });
}

/// Stores the maximum and the sum of exponentials of the logits of a range.
static void sumRange(BestLogitsOp op, Value logits, Value begin, Value end,
                     ValueRange at, Loops &loops) {
  Value most =
      loops.fold(begin, end, loops.f32(kLowest), [&](Value n, Value before) {
        Value l = loops.load(logits, n);
        return loops.select(loops.greater(l, before), l, before);
      });
  Value lowest = loops.f32(kLowestNumber);
  Value base = loops.select(loops.greater(most, lowest), most, lowest);
  Value sum = loops.fold(begin, end, loops.f32(0), [&](Value n, Value before) {
    return loops.add(before, loops.exp(loops.sub(loops.load(logits, n), base)));
  });
  loops.store(most, op.getDestinations()[0], at);
  loops.store(sum, op.getDestinations()[1], at);
}

void heddle::loopOverBest(BestLogitsOp op, Loops &loops) {
  RankedList list{op.getDestinations()[2], op.getDestinations()[3]};
  forEachRow(op, loops, [&](Value row, Value logits) {
    auto forbidAll = [&](OpBuilder &builder, Location loc) {
      forbid(op, row, logits, loops);
      scf::YieldOp::create(builder, loc);
    };
    scf::IfOp::create(loops.builder, loops.loc,
                      sumsLeaveOutForbidden(op, row, loops), forbidAll);
    forEachRange(op, loops, [&](Value k, Value begin, Value end) {
      sumRange(op, logits, begin, end, {row, k}, loops);
    });
    forbid(op, row, logits, loops);
    forEachRange(op, loops, [&](Value k, Value begin, Value end) {
      list.clear({row, k}, loops);
      loops.loop(begin, end, [&](Value n) {
        list.insert(loops.load(logits, n), loops.toI32(n), {row, k}, loops);
      });
    });
  });
}
