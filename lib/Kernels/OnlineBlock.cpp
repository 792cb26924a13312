//===- OnlineBlock.cpp - Attention for a block of queries -----------------===//
//
// Queries come in as rows and leave as rows: both ends transpose small squares
// in registers. Between them, the sums of P V: a tile of widths by queries in
// registers while keys pass in ascending order, one fused multiply-add each, so
// that a row's sum is the same whatever the tiles are.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/OnlineBlock.h"
#include "lib/Kernels/InnerProduct.h"
#include "lib/Kernels/OnlineState.h"
#include "lib/Kernels/VectorTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

static ArrayRef<int64_t> shapeOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape();
}

/// Calls `body` with the first column of squares that cover `width`, and their
/// side: loops over whole vectors, then smaller powers of two.
static void forEachSquare(VectorLoops &loops, int64_t width,
                          function_ref<void(Value, int64_t)> body) {
  int64_t lanes = loops.isa.lanes, whole = width / lanes * lanes;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), lanes,
               [&](Value d) { body(d, lanes); });
  for (int64_t side : vectorWidths(width - whole, lanes)) {
    body(loops.index(whole), side);
    whole += side;
  }
}

void heddle::emitBlock(OnlineInitOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t columns = shapeOf(op.getQueries())[1];
  Value last = loops.plus(loops.size(op.getRows(), 0), -1);
  float scale = op.getScale().convertToFloat();
  forEachSquare(loops, shapeOf(op.getRows())[1], [&](Value d, int64_t side) {
    for (int64_t column = 0; column < columns; column += side) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < side; ++r) {
        Value row = loops.least(loops.plus(op.getFirst(), column + r), last);
        rows.push_back(loops.mul(loops.loadVector(op.getRows(), {row, d}, side),
                                 loops.splat(scale, side)));
      }
      for (auto [k, vector] : llvm::enumerate(loops.transpose(rows)))
        loops.storeVector(vector, op.getQueries(),
                          {loops.plus(d, k), loops.index(column)});
    }
  });
  auto fill = [&](Value memref, Value row, double value) {
    for (int64_t column = 0; column < columns; column += isa.lanes)
      loops.storeVector(loops.splat(value, isa.lanes), memref,
                        {row, loops.index(column)});
  };
  loops.each(loops.index(0), loops.index(shapeOf(op.getSums())[0]), 1,
             [&](Value d) { fill(op.getSums(), d, 0); });
  for (auto [row, value] : llvm::enumerate(kInitialState))
    fill(op.getState(), loops.index(row), value);
}

namespace {
/// sums[d + r, column] += P V for some widths and all columns.
class BlockUpdate {
public:
  BlockUpdate(OnlineUpdateOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc(), isa),
        product(loops, builder.getF32Type()),
        vectors(shapeOf(op.getSums())[1] / isa.lanes) {
    end = loops.least(op.getEnd(), loops.size(op.getValues(), 0));
    std::tie(fullBegin, fullEnd) =
        fullPart(loops, op.getBegin(), end, op.getFullBegin(), op.getFullEnd());
  }

  void build();

private:
  void widths(Value d, int64_t count);
  SmallVector<Value> addKey(Value key, ArrayRef<Value> widths, ValueRange sums,
                            bool isPartial);

  OnlineUpdateOp op;
  VectorLoops loops;
  InnerProduct product;
  int64_t vectors;
  Value end, fullBegin, fullEnd;
};
} // namespace

SmallVector<Value> BlockUpdate::addKey(Value key, ArrayRef<Value> widths,
                                       ValueRange sums, bool isPartial) {
  int64_t lanes = loops.isa.lanes;
  SmallVector<Value> weights, inside, result;
  Value row = loops.minus(key, op.getBegin());
  for (int64_t v = 0; v < vectors; ++v) {
    weights.push_back(loops.loadVector(op.getWeights(),
                                       {row, loops.index(v * lanes)}, lanes));
    if (isPartial)
      inside.push_back(insideMask(loops, weights.back()));
  }
  for (auto [r, d] : llvm::enumerate(widths)) {
    Value value = product.broadcast(op.getValues(), {key, d}, lanes);
    for (int64_t v = 0; v < vectors; ++v) {
      Value before = sums[r * vectors + v];
      Value sum = product.multiplyAdd(value, weights[v], before);
      result.push_back(isPartial ? loops.choose(inside[v], sum, before) : sum);
    }
  }
  return result;
}

void BlockUpdate::widths(Value d, int64_t count) {
  int64_t lanes = loops.isa.lanes;
  SmallVector<Value> widths, sums;
  for (int64_t r = 0; r < count; ++r) {
    widths.push_back(loops.plus(d, r));
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(loops.loadVector(
          op.getSums(), {widths[r], loops.index(v * lanes)}, lanes));
  }
  auto pass = [&](Value from, Value to, int64_t together, bool isPartial) {
    sums = loops.carry(
        from, to, together, sums, [&](Value key, ValueRange carried) {
          SmallVector<Value> next(carried);
          for (int64_t u = 0; u < together; ++u)
            next = addKey(loops.plus(key, u), widths, next, isPartial);
          return next;
        });
  };
  // Several keys an iteration where no mask has to be looked at.
  constexpr int64_t kTogether = 4;
  Value count4 = loops.floorTo(loops.minus(fullEnd, fullBegin), kTogether);
  Value middle = loops.plus(fullBegin, count4);
  pass(op.getBegin(), fullBegin, 1, /*isPartial=*/true);
  pass(fullBegin, middle, kTogether, /*isPartial=*/false);
  pass(middle, fullEnd, 1, /*isPartial=*/false);
  pass(fullEnd, end, 1, /*isPartial=*/true);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      loops.storeVector(sums[r * vectors + v], op.getSums(),
                        {widths[r], loops.index(v * lanes)});
}

void BlockUpdate::build() {
  // Two vectors of weights and one of a value beside the sums, which take half
  // of the registers.
  int64_t together =
      std::max<int64_t>(1, loops.isa.vectorRegisters / 2 / vectors);
  int64_t width = shapeOf(op.getSums())[0], whole = width / together * together;
  if (whole > 0)
    loops.each(loops.index(0), loops.index(whole), together,
               [&](Value d) { widths(d, together); });
  if (whole < width)
    widths(loops.index(whole), width - whole);
}

void heddle::emitBlock(OnlineUpdateOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  BlockUpdate(op, builder, isa).build();
}

void heddle::emitBlock(OnlineFinishOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  VectorLoops loops(builder, op.getLoc(), isa);
  int64_t columns = shapeOf(op.getSums())[1];
  // Totals are no more needed: their row keeps what is made of them.
  Value totals = loops.index(kTotal);
  for (int64_t column = 0; column < columns; column += isa.lanes) {
    Value at = loops.index(column);
    Value total = loops.loadVector(op.getState(), {totals, at}, isa.lanes);
    loops.storeVector(prepareTotal(loops, total, op.getNormalizer()),
                      op.getState(), {totals, at});
  }
  Value rowCount = loops.size(op.getRows(), 0);
  forEachSquare(loops, shapeOf(op.getRows())[1], [&](Value d, int64_t side) {
    for (int64_t column = 0; column < columns; column += side) {
      Value at = loops.index(column);
      Value total = loops.loadVector(op.getState(), {totals, at}, side);
      SmallVector<Value> rows;
      for (int64_t k = 0; k < side; ++k)
        rows.push_back(divideByTotal(
            loops, loops.loadVector(op.getSums(), {loops.plus(d, k), at}, side),
            total, op.getNormalizer()));
      for (auto [r, vector] : llvm::enumerate(loops.transpose(rows))) {
        Value row = loops.plus(op.getFirst(), column + r);
        loops.when(loops.less(row, rowCount), [&, vector = vector] {
          loops.storeVector(vector, op.getRows(), {row, d});
        });
      }
    }
  });
}
