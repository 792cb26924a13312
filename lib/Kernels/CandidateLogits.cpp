//===- CandidateLogits.cpp - Vector code of candidate_logits --------------===//
//
// One dot product a candidate, along the width that both operands have side by
// side in memory. Four candidates at a time share the loads of x and hide each
// other's latency; the last few of a list go one by one.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/CandidateLogits.h"
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
      : kernel(builder, op.getLoc(), isa), loops(kernel.loops),
        width(cast<MemRefType>(op.getInput().getType()).getShape().back()),
        isa(isa), op(op), input(kernel.rowsOf(op.getInput())),
        rows(op.getRows()), bias(op.getBias()),
        output(kernel.rowsOf(op.getDestination())) {}

  void build();

private:
  static constexpr int64_t kTogether = 4;
  void logits(Value row, Value sentence, Value first, int64_t count);
  Value sentenceOf(Value row);

  RowKernel kernel;
  Loops &loops;
  int64_t width;
  IsaLevel isa;
  CandidateLogitsOp op;
  Value input, rows, bias, output;
};
} // namespace

/// y[row, first + c] for c < count.
void CandidateLogitsBuilder::logits(Value row, Value sentence, Value first,
                                    int64_t count) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  SmallVector<Value> candidates, totals;
  for (int64_t c = 0; c < count; ++c) {
    candidates.push_back(
        builder.createOrFold<arith::AddIOp>(loc, first, loops.index(c)));
    totals.push_back(loops.load(bias, {sentence, candidates.back()}));
  }
  auto load = [&](Value from, ValueRange at, int64_t lanes) -> Value {
    return vector::LoadOp::create(
        builder, loc, VectorType::get(lanes, builder.getF32Type()), from, at);
  };
  auto multiplyAdd = [&](ValueRange sums, Value d, int64_t lanes) {
    SmallVector<Value> next;
    Value x = load(input, {row, d}, lanes);
    for (auto [sum, candidate] : llvm::zip(sums, candidates))
      next.push_back(vector::FMAOp::create(
          builder, loc, x, load(rows, {sentence, candidate, d}, lanes), sum));
    return next;
  };
  auto zeros = [&](int64_t lanes) {
    Value zero = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(VectorType::get(lanes, builder.getF32Type()),
                               0.0f));
    return SmallVector<Value>(count, zero);
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

/// Given per row in a step, otherwise counted by the positions before.
Value CandidateLogitsBuilder::sentenceOf(Value row) {
  if (op.getSentences())
    return loops.toIndex(loops.load(op.getSentences(), row));
  return arith::DivUIOp::create(loops.builder, loops.loc, row,
                                loops.size(op.getInput(), 1));
}

void CandidateLogitsBuilder::build() {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value lowest = loops.f32(-std::numeric_limits<float>::infinity());
  // Lists have hundreds of candidates.
  kernel.forEachRow(loops.size(input, 0), 128 * width, [&](Value row) {
    Value sentence = sentenceOf(row);
    Value count = loops.toIndex(loops.load(op.getCounts(), sentence));
    Value together = loops.index(kTogether);
    Value left = arith::RemUIOp::create(builder, loc, count, together);
    Value whole = arith::SubIOp::create(builder, loc, count, left);
    scf::ForOp::create(builder, loc, loops.index(0), whole, together,
                       ValueRange(),
                       [&](OpBuilder &, Location, Value first, ValueRange) {
                         logits(row, sentence, first, kTogether);
                         scf::YieldOp::create(builder, loc);
                       });
    loops.loop(whole, count,
               [&](Value candidate) { logits(row, sentence, candidate, 1); });
    loops.loop(count, loops.size(output, 1), [&](Value candidate) {
      loops.store(lowest, output, {row, candidate});
    });
  });
}

void heddle::emitCandidateLogits(CandidateLogitsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  CandidateLogitsBuilder(op, builder, isa).build();
}
