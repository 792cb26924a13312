//===- AttentionLoops.cpp - One query of one head at a time ---------------===//
//
// Softmax takes two passes over the keys: the first finds the largest score,
// the second adds up probabilities and weighted values. The second computes
// each score again instead of loading it, so that memory does not grow with the
// number of keys. Sums are divided by the total of probabilities at the end; a
// total of 0 gives 0.
//
// Sums stand in scratch memory until the last key. Results may take the place
// of queries, so they are written when no query is read any more. This form is
// the reference of kernels that tile.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Loops/AttentionLoops.h"
#include "lib/CodeGen/Loops/QueryLoops.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <limits>

using namespace mlir;
using namespace heddle;

/// The largest score of the row; 0 where no key is allowed or all scores are
/// -inf, so that no difference of infinities arises.
static Value maximumOf(QueryLoops &query, Loops &loops) {
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  Value maximum = loops.fold(
      query.getFirstKey(), query.getKeyCount(), lowest,
      [&](Value j, Value so_far) {
        return loops.ifYield(
            query.isAllowed(j),
            [&] { return loops.max(so_far, query.score(j)); }, so_far);
      });
  Value none = loops.equal(maximum, lowest);
  return loops.select(none, loops.f32(0), maximum);
}

/// The loops for one query of one head. `sums` [value width] is scratch memory.
static void buildQuery(AttentionOp op, QueryLoops &query, Value sums,
                       Loops &loops) {
  OpBuilder &builder = loops.builder;
  Value width = loops.index(op.getValueWidth());
  auto forEachSum = [&](function_ref<Value(Value, Value)> update) {
    loops.loop(width, [&](Value d) {
      loops.store(update(loops.load(sums, d), d), sums, d);
    });
  };

  loops.loop(width, [&](Value d) { loops.store(loops.f32(0), sums, d); });
  Value maximum = op.getNormalizer() == Normalizer::Softmax
                      ? maximumOf(query, loops)
                      : Value();
  Value total = loops.fold(
      query.getFirstKey(), query.getKeyCount(), loops.f32(0),
      [&](Value j, Value sum) {
        return loops.ifYield(
            query.isAllowed(j),
            [&] {
              Value w = query.probabilityOf(query.score(j), maximum);
              SmallVector<Value> key = query.keyAt(j);
              forEachSum([&](Value y, Value d) {
                return loops.add(y, loops.mul(w, query.loadValue(key, d)));
              });
              return loops.add(sum, w);
            },
            sum);
      });
  if (op.getNormalizer() != Normalizer::None) {
    Value empty = loops.equal(total, loops.f32(0));
    forEachSum([&](Value y, Value) -> Value {
      return loops.select(empty, loops.f32(0), loops.div(y, total));
    });
  }
  loops.loop(width, [&](Value d) {
    Value result = loops.load(sums, d);
    if (std::optional<Type> rounded = op.getRounds())
      result = roundTo(*rounded, builder, loops.loc, result);
    loops.store(result, op.getDestination(), query.resultAt(d));
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
      QueryLoops query(op, builder, row, head);
      buildQuery(op, query, sums, loops);
    });
  });
}
