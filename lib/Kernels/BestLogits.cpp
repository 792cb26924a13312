//===- BestLogits.cpp - Vector code of best_logits ------------------------===//
//
// A chunk of a row is read three times: for its maximum, for the sum of
// exponentials, to which what came before is scaled, and, where the maximum is
// above the last of the best so far, for those that are better. Few vectors
// hold one: these are looked at lane by lane.
//
// Sums have one order, whatever the level: a lane for each column of a panel,
// then a tree.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/BestLogits.h"
#include "lib/CodeGen/RankedList.h"
#include "lib/Kernels/RangedLogits.h"
#include "lib/Kernels/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

static constexpr float kLowest = -std::numeric_limits<float>::infinity();
/// Stands for a maximum of -inf, of which no difference is a number.
static constexpr float kLowestNumber = std::numeric_limits<float>::lowest();

namespace {
class BestLogitsBuilder : public RangedLogits {
public:
  BestLogitsBuilder(BestLogitsOp op, TileLoops &loops, bool isFetched)
      : RangedLogits(op, loops, isFetched), maxima(op.getDestinations()[0]),
        sums(op.getDestinations()[1]),
        list{op.getDestinations()[2], op.getDestinations()[3]},
        math(loops.builder, loops.loc, loops.isa) {}

protected:
  void startRow(Value row) override {
    loops.store(loops.f32(kLowest), maxima, {row, range});
    loops.store(loops.f32(0), sums, {row, range});
    list.clear({row, range}, loops);
  }
  void takeRow(const Chunk &chunk, Value r) override;

private:
  void addExponentials(const Chunk &chunk, Value r, Value most, ValueRange at);
  Value sumOf(const Chunk &chunk, Value r, Value most);
  void insertBest(const Chunk &chunk, Value r, ValueRange at);

  Value maxima, sums;
  RankedList list;
  VectorMath math;
};
} // namespace

void BestLogitsBuilder::takeRow(const Chunk &chunk, Value r) {
  SmallVector<Value> at = {loops.plus(chunk.row, r), range};
  Value most = maximum(chunk, r);
  addExponentials(chunk, r, most, at);
  loops.when(loops.isAbove(most, list.bound(at, loops)), [&] {
    forbid(chunk, r);
    insertBest(chunk, r, at);
  });
}

/// Adds a chunk to the sum of a row, whose maximum may become that of the
/// chunk.
void BestLogitsBuilder::addExponentials(const Chunk &chunk, Value r, Value most,
                                        ValueRange at) {
  Value old = loops.load(maxima, at);
  Value now = loops.greater(most, old);
  Value base = loops.greater(now, loops.f32(kLowestNumber));
  // Exactly 1 where the maximum stays.
  Value scale = math.exp(loops.sub(old, base));
  loops.store(
      loops.multiplyAdd(loops.load(sums, at), scale, sumOf(chunk, r, base)),
      sums, at);
  loops.store(now, maxima, at);
}

/// The sum of e^(l - base) over a chunk.
Value BestLogitsBuilder::sumOf(const Chunk &chunk, Value r, Value base) {
  int64_t lanes = loops.isa.lanes, vectors = kPanelColumns / lanes;
  Value all = loops.spread(base, lanes);
  SmallVector<Value> totals(vectors, loops.splat(0, lanes));
  totals = loops.carry(chunk.begin, chunk.end, kPanelColumns, totals,
                       [&](Value c, ValueRange carried) {
                         SmallVector<Value> next;
                         for (auto [v, total] : llvm::enumerate(carried)) {
                           Value l = logitsAt(r, loops.plus(c, v * lanes));
                           next.push_back(
                               loops.add(total, math.exp(loops.sub(l, all))));
                         }
                         return next;
                       });
  for (size_t half = totals.size() / 2; half > 0; half /= 2)
    for (size_t v = 0; v < half; ++v)
      totals[v] = loops.add(totals[v], totals[v + half]);
  return vector::ExtractOp::create(loops.builder, loops.loc,
                                   loops.sumOfLanes(totals.front()), 0);
}

void BestLogitsBuilder::insertBest(const Chunk &chunk, Value r, ValueRange at) {
  int64_t lanes = loops.isa.lanes;
  loops.each(chunk.begin, chunk.end, lanes, [&](Value c) {
    Value bound = loops.spread(list.bound(at, loops), lanes);
    Value isAbove = loops.any(loops.isAbove(logitsAt(r, c), bound));
    loops.when(isAbove, [&] {
      loops.loop(loops.index(lanes), [&](Value lane) {
        Value column = loops.plus(c, lane);
        Value logit = loops.load(scratch, {r, column});
        loops.when(loops.isAbove(logit, list.bound(at, loops)), [&] {
          Value id = loops.toI32(loops.plus(chunk.first, column));
          list.insert(logit, id, at, loops);
        });
      });
    });
  });
}

void heddle::tileBestLogits(BestLogitsOp op, TileLoops &loops, bool isFetched) {
  BestLogitsBuilder(op, loops, isFetched).build();
}
