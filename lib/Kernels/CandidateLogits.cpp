//===- CandidateLogits.cpp - Vector code of candidate_logits --------------===//
//
// One dot product a candidate, along the width that both operands have side by
// side in memory. Four candidates at a time share the loads of x and hide each
// other's latency; the last few of a list go one by one.
//
// Reading the rows of candidates is all the cost. Lists are ascending, and many
// begin alike: so a chunk of every list is done before the next chunk of any,
// while rows that they share are still in cache. Rows of a table lie anywhere,
// which no hardware foresees: those of the next four candidates are prefetched
// meanwhile, line by line.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/CandidateLogits.h"
#include "lib/Kernels/InnerProduct.h"
#include "lib/Kernels/RowKernel.h"
#include "lib/Kernels/VectorTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace heddle;

namespace {
class CandidateLogitsBuilder {
public:
  CandidateLogitsBuilder(CandidateLogitsOp op, OpBuilder &builder,
                         const IsaLevel &isa)
      : kernel(builder, op.getLoc(), isa), loops(builder, op.getLoc(), isa),
        product(loops, builder.getF32Type()),
        width(cast<MemRefType>(op.getInput().getType()).getShape().back()),
        isa(isa), op(op), input(kernel.rowsOf(op.getInput())),
        rows(op.getRows()), bias(op.getBias()),
        output(kernel.rowsOf(op.getDestination())) {}

  void build();

private:
  static constexpr int64_t kTogether = 4;
  static constexpr int64_t kChunk = 64;
  void chunk(Value row, Value begin, Value end);
  void logits(Value row, Value sentence, Value first, int64_t count,
              ValueRange upcoming = {});
  SmallVector<Value> upcomingRows(Value sentence, Value first, Value end);
  Value sentenceOf(Value row);

  RowKernel kernel;
  VectorLoops loops;
  InnerProduct product;
  int64_t width;
  IsaLevel isa;
  CandidateLogitsOp op;
  Value input, rows, bias, output;
};
} // namespace

/// y[row, first + c] for c < count, while the rows `upcoming` of the table are
/// fetched.
void CandidateLogitsBuilder::logits(Value row, Value sentence, Value first,
                                    int64_t count, ValueRange upcoming) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  SmallVector<Value> candidates, totals;
  SmallVector<SmallVector<Value>> places;
  for (int64_t c = 0; c < count; ++c) {
    candidates.push_back(
        builder.createOrFold<arith::AddIOp>(loc, first, loops.index(c)));
    SmallVector<Value> place = {sentence, candidates.back()};
    if (Value ids = op.getCandidates())
      place = {loops.toIndex(loops.load(ids, place))};
    totals.push_back(loops.load(bias, place));
    places.push_back(std::move(place));
  }
  auto multiplyAdd = [&](ValueRange sums, Value d, int64_t lanes) {
    SmallVector<Value> next;
    Value x = loops.loadVector(input, {row, d}, lanes);
    for (auto [sum, place] : llvm::zip(sums, places))
      next.push_back(product.multiplyAdd(
          x, loops.loadVector(rows, append(place, d), lanes), sum));
    return next;
  };
  auto zeros = [&](int64_t lanes) {
    return SmallVector<Value>(count, loops.splat(0, lanes));
  };
  auto addToTotals = [&](ValueRange sums) {
    for (auto [total, sum] : llvm::zip(totals, sums))
      total = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::ADD, sum,
                                          total, arith::FastMathFlags::reassoc);
  };

  int64_t whole = width / isa.lanes * isa.lanes;
  if (whole > 0)
    addToTotals(scf::ForOp::create(
                    builder, loc, loops.index(0), loops.index(whole),
                    loops.index(isa.lanes), zeros(isa.lanes),
                    [&](OpBuilder &, Location, Value d, ValueRange sums) {
                      for (Value next : upcoming)
                        memref::PrefetchOp::create(
                            builder, loc, rows, ValueRange{next, d},
                            /*isWrite=*/false, /*localityHint=*/3,
                            /*isDataCache=*/true);
                      scf::YieldOp::create(builder, loc,
                                           multiplyAdd(sums, d, isa.lanes));
                    })
                    .getResults());
  for (int64_t lanes : vectorWidths(width - whole, isa.lanes)) {
    addToTotals(multiplyAdd(zeros(lanes), loops.index(whole), lanes));
    whole += lanes;
  }
  for (auto [candidate, total] : llvm::zip(candidates, totals))
    loops.store(total, output, {row, candidate});
}

/// The table's rows of the candidates behind those that start at `first`: of
/// the last one before `end` where there are fewer, and none where sentences
/// have rows of their own.
SmallVector<Value>
CandidateLogitsBuilder::upcomingRows(Value sentence, Value first, Value end) {
  SmallVector<Value> result;
  Value ids = op.getCandidates();
  if (!ids)
    return result;
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value last = arith::SubIOp::create(builder, loc, end, loops.index(1));
  for (int64_t c = 0; c < kTogether; ++c) {
    Value candidate = arith::MinUIOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, first, loops.index(kTogether + c)),
        last);
    result.push_back(loops.toIndex(loops.load(ids, {sentence, candidate})));
  }
  return result;
}

/// Given per row in a step, otherwise counted by the positions before.
Value CandidateLogitsBuilder::sentenceOf(Value row) {
  if (op.getSentences())
    return loops.toIndex(loops.load(op.getSentences(), row));
  return arith::DivUIOp::create(loops.builder, loops.loc, row,
                                loops.size(op.getInput(), 1));
}

/// y[row, begin] to y[row, end - 1].
void CandidateLogitsBuilder::chunk(Value row, Value begin, Value end) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  auto least = [&](Value lhs, Value rhs) -> Value {
    return arith::MinUIOp::create(builder, loc, lhs, rhs);
  };
  Value sentence = sentenceOf(row);
  Value count = loops.toIndex(loops.load(op.getCounts(), sentence));
  Value last = arith::MaxUIOp::create(builder, loc, least(count, end), begin);
  Value together = loops.index(kTogether);
  Value left = arith::RemUIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, last, begin), together);
  Value whole = arith::SubIOp::create(builder, loc, last, left);
  scf::ForOp::create(builder, loc, begin, whole, together, ValueRange(),
                     [&](OpBuilder &, Location, Value first, ValueRange) {
                       logits(row, sentence, first, kTogether,
                              upcomingRows(sentence, first, last));
                       scf::YieldOp::create(builder, loc);
                     });
  loops.loop(whole, last,
             [&](Value candidate) { logits(row, sentence, candidate, 1); });
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  loops.loop(last, end, [&](Value candidate) {
    loops.store(lowest, output, {row, candidate});
  });
}

void CandidateLogitsBuilder::build() {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value size = loops.index(kChunk), candidates = loops.size(output, 1);
  Value chunks = arith::CeilDivUIOp::create(builder, loc, candidates, size);
  // A chunk is worth a thread where a few rows have it.
  kernel.forEachRow(chunks, 4 * kChunk * width, [&](Value number) {
    Value begin = arith::MulIOp::create(builder, loc, number, size);
    Value end = arith::MinUIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, begin, size),
        candidates);
    loops.loop(loops.size(input, 0),
               [&](Value row) { chunk(row, begin, end); });
  });
}

void heddle::emitCandidateLogits(CandidateLogitsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  CandidateLogitsBuilder(op, builder, isa).build();
}
