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

#include "lib/Kernels/Linear/CandidateLogits.h"
#include "lib/Kernels/Linear/RowDot.h"
#include "lib/Kernels/Vectors/HeadRow.h"
#include "lib/Kernels/Vectors/MultiplyAdd.h"
#include "lib/Kernels/Vectors/RowKernel.h"
#include "lib/Kernels/Vectors/VectorWidths.h"
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
        width(cast<MemRefType>(op.getInput().getType()).getShape().back()),
        isa(isa), op(op), input(kernel.rowsOf(op.getInput())),
        scales(op.getInputScales() ? kernel.flatten(op.getInputScales())
                                   : Value()),
        rows(op.getRows()), output(kernel.rowsOf(op.getDestination())) {}

  void build();

private:
  static constexpr int64_t kTogether = 4;
  static constexpr int64_t kChunk = 64;
  void chunk(Value row, Value begin, Value end);
  void logits(Value row, Value sentence, Value first, int64_t count,
              ValueRange upcoming = {});
  SmallVector<Value> floatLogits(Value row, ArrayRef<SmallVector<Value>> places,
                                 ValueRange upcoming);
  SmallVector<Value> sumOverWidth(
      int64_t step, SmallVector<Value> sums, ValueRange upcoming,
      function_ref<SmallVector<Value>(ValueRange, Value, int64_t)> multiplyAdd);
  SmallVector<Value> shortLogits(Value row, ArrayRef<SmallVector<Value>> places,
                                 ValueRange upcoming);
  SmallVector<Value> integerLogits(Value row,
                                   ArrayRef<SmallVector<Value>> places,
                                   ValueRange upcoming);
  void fetch(ValueRange upcoming, Value d);
  SmallVector<Value> upcomingRows(Value sentence, Value first, Value end);
  Value sentenceOf(Value row);

  RowKernel kernel;
  VectorLoops loops;
  int64_t width;
  IsaLevel isa;
  CandidateLogitsOp op;
  /// x [rows, d] and its scales [rows], null without.
  Value input, scales;
  Value rows, output;
};
} // namespace

void CandidateLogitsBuilder::fetch(ValueRange upcoming, Value d) {
  for (Value next : upcoming)
    memref::PrefetchOp::create(loops.builder, loops.loc, rows,
                               ValueRange{next, d}, /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
}

/// The sums after all steps over the width, and what is left behind them.
SmallVector<Value> CandidateLogitsBuilder::sumOverWidth(
    int64_t step, SmallVector<Value> sums, ValueRange upcoming,
    function_ref<SmallVector<Value>(ValueRange, Value, int64_t)> multiplyAdd) {
  int64_t whole = width / step * step;
  if (whole > 0)
    sums = loops.carry(loops.index(0), loops.index(whole), step, sums,
                       [&](Value d, ValueRange carried) {
                         fetch(upcoming, d);
                         return multiplyAdd(carried, d, step);
                       });
  if (whole < width)
    sums = multiplyAdd(sums, loops.index(whole), width - whole);
  return sums;
}

/// x . w + b of f32.
SmallVector<Value> CandidateLogitsBuilder::floatLogits(
    Value row, ArrayRef<SmallVector<Value>> places, ValueRange upcoming) {
  MultiplyAdd product(loops, loops.builder.getF32Type());
  SmallVector<Value> totals;
  for (const SmallVector<Value> &place : places)
    totals.push_back(loops.load(op.getBias(), place));
  auto multiplyAdd = [&](ValueRange sums, Value d, int64_t lanes) {
    SmallVector<Value> next;
    Value x = loops.loadVector(input, {row, d}, lanes);
    for (auto [sum, place] : llvm::zip(sums, places))
      next.push_back(product.multiplyAdd(
          x, loops.loadVector(rows, append(place, d), lanes), sum));
    return next;
  };
  auto zeros = [&](int64_t lanes) {
    return SmallVector<Value>(places.size(), loops.f32(0, lanes));
  };
  auto addToTotals = [&](ValueRange sums) {
    for (auto [total, sum] : llvm::zip(totals, sums))
      total = vector::ReductionOp::create(loops.builder, loops.loc,
                                          vector::CombiningKind::ADD, sum,
                                          total, arith::FastMathFlags::reassoc);
  };

  int64_t whole = width / isa.lanes * isa.lanes;
  if (whole > 0)
    addToTotals(loops.carry(loops.index(0), loops.index(whole), isa.lanes,
                            zeros(isa.lanes), [&](Value d, ValueRange sums) {
                              fetch(upcoming, d);
                              return multiplyAdd(sums, d, isa.lanes);
                            }));
  for (int64_t lanes : vectorWidths(width - whole, isa.lanes)) {
    addToTotals(multiplyAdd(zeros(lanes), loops.index(whole), lanes));
    whole += lanes;
  }
  return totals;
}

/// The same of short floats, a pair a lane; behind the width there are zeros.
SmallVector<Value> CandidateLogitsBuilder::shortLogits(
    Value row, ArrayRef<SmallVector<Value>> places, ValueRange upcoming) {
  MultiplyAdd product(loops, elementOf(rows));
  int64_t step = product.group() * isa.lanes;
  SmallVector<Value> sums(places.size(), loops.f32(0, isa.lanes));
  auto multiplyAdd = [&](ValueRange sums, Value d, int64_t count) {
    SmallVector<Value> next;
    Value x = loops.loadFirst(input, {row, d}, count, step);
    for (auto [sum, place] : llvm::zip(sums, places))
      next.push_back(product.multiplyAdd(
          x, loops.loadFirst(rows, append(place, d), count, step), sum));
    return next;
  };
  sums = sumOverWidth(step, sums, upcoming, multiplyAdd);
  SmallVector<Value> totals;
  for (auto [sum, place] : llvm::zip(sums, places))
    totals.push_back(vector::ReductionOp::create(
        loops.builder, loops.loc, vector::CombiningKind::ADD, sum,
        loops.load(op.getBias(), place), arith::FastMathFlags::reassoc));
  return totals;
}

/// The same of integers, as LinearOp says.
SmallVector<Value> CandidateLogitsBuilder::integerLogits(
    Value row, ArrayRef<SmallVector<Value>> places, ValueRange upcoming) {
  RowDot product(loops, op.getShift().value_or(0));
  int64_t step = product.elements();
  // The last sum, where there is one, is what all others have too much.
  SmallVector<Value> sums(places.size() + product.hasCorrection(),
                          product.zeros());
  auto multiplyAdd = [&](ValueRange sums, Value d, int64_t count) {
    SmallVector<Value> next;
    Value x = product.loadX(input, {row, d}, count);
    for (auto [sum, place] : llvm::zip(sums, places))
      next.push_back(product.multiplyAdd(
          x, product.loadW(rows, append(place, d), count), sum));
    if (product.hasCorrection())
      next.push_back(product.correctionOf(x, sums.back()));
    return next;
  };
  sums = sumOverWidth(step, sums, upcoming, multiplyAdd);

  SmallVector<Value> totals;
  Value rowScale;
  if (scales)
    rowScale = loops.load(scales, row);
  for (auto [sum, place] : llvm::zip(sums, places)) {
    if (product.hasCorrection())
      sum = loops.sub(sum, sums.back());
    Value total = arith::SIToFPOp::create(
        loops.builder, loops.loc, loops.builder.getF32Type(),
        vector::ReductionOp::create(loops.builder, loops.loc,
                                    vector::CombiningKind::ADD, sum));
    Value scale = loops.load(op.getRowScales(), place);
    if (rowScale)
      scale = loops.mul(rowScale, scale);
    totals.push_back(
        loops.add(loops.mul(total, scale), loops.load(op.getBias(), place)));
  }
  return totals;
}

/// y[row, first + c] for c < count, while the rows `upcoming` of the table are
/// fetched.
void CandidateLogitsBuilder::logits(Value row, Value sentence, Value first,
                                    int64_t count, ValueRange upcoming) {
  SmallVector<Value> candidates;
  SmallVector<SmallVector<Value>> places;
  for (int64_t c = 0; c < count; ++c) {
    candidates.push_back(loops.add(first, c));
    SmallVector<Value> place = {sentence, candidates.back()};
    if (Value ids = op.getCandidates())
      place = {loops.toIndex(loops.load(ids, place))};
    places.push_back(std::move(place));
  }
  Type element = elementOf(rows);
  auto multiply = element.isF32() ? &CandidateLogitsBuilder::floatLogits
                  : isShortFloat(element)
                      ? &CandidateLogitsBuilder::shortLogits
                      : &CandidateLogitsBuilder::integerLogits;
  SmallVector<Value> totals = (this->*multiply)(row, places, upcoming);
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
  Value last = loops.sub(end, loops.index(1));
  for (int64_t c = 0; c < kTogether; ++c) {
    Value candidate = loops.umin(loops.add(first, kTogether + c), last);
    result.push_back(loops.toIndex(loops.load(ids, {sentence, candidate})));
  }
  return result;
}

/// Given per row in a step, otherwise counted by the positions before.
Value CandidateLogitsBuilder::sentenceOf(Value row) {
  if (op.getSentences())
    return loops.toIndex(loops.load(op.getSentences(), row));
  return loops.udiv(row, loops.size(op.getInput(), 1));
}

/// y[row, begin] to y[row, end - 1].
void CandidateLogitsBuilder::chunk(Value row, Value begin, Value end) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value sentence = sentenceOf(row);
  Value count = loops.toIndex(loops.load(op.getCounts(), sentence));
  Value last =
      arith::MaxUIOp::create(builder, loc, loops.umin(count, end), begin);
  Value together = loops.index(kTogether);
  Value left = loops.urem(loops.sub(last, begin), together);
  Value whole = loops.sub(last, left);
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
  Value size = loops.index(kChunk), candidates = loops.size(output, 1);
  Value chunks = loops.uceilDiv(candidates, size);
  // A chunk is worth a thread where a few rows have it.
  kernel.forEachRow(chunks, 4 * kChunk * width, [&](Value number) {
    Value begin = loops.mul(number, size);
    Value end = loops.umin(loops.add(begin, size), candidates);
    loops.loop(loops.size(input, 0),
               [&](Value row) { chunk(row, begin, end); });
  });
}

void heddle::emitCandidateLogits(CandidateLogitsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  CandidateLogitsBuilder(op, builder, isa).build();
}
