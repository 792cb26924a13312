//===- LinearTile.cpp - Vector code of a tile of linear -------------------===//
//
// The tile of y stays in registers while k runs: per k one load a vector of the
// panel, one broadcast a row of x, and one fused multiply-add an element. Loads
// and broadcasts share a port, so that few instructions besides them may stand
// in the loop: it is unrolled, and all strides are constants. A tile may have
// rows of W fetched meanwhile that others will need.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearTile.h"
#include "lib/Kernels/InnerProduct.h"
#include "lib/Kernels/LinearEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// Groups of inputs of an iteration: enough for what the loop itself takes not
/// to show, and twice as many of few multiply-adds each.
static constexpr int64_t kUnrolledGroups = kFetchingGroups, kFewOps = 4;

namespace {
/// Sums x W for a tile of rows and columns.
class TileSums {
public:
  /// Of a linear.tile or linear.sums, in front of which code is built.
  template <typename Op>
  TileSums(Op op, OpBuilder &builder, const IsaLevel &isa)
      : loops(builder, op.getLoc(), isa),
        product(loops, op.getWeight().getType().getElementType()),
        input(op.getInput()), weight(product.flatten(op.getWeight())),
        row(op.getRow()), column(op.getColumn()), rows(op.getRows()),
        columns(op.getColumns()), shift(op.getShift().value_or(0)),
        depth(op.getInput().getType().getDimSize(1)),
        lanes(std::min(isa.lanes, columns)), vectors(columns / lanes) {}

  /// The sums of each row, vector by vector. While they run, `fetched` rows of
  /// W from `next` on come to the L2 cache; null for none.
  SmallVector<Value> build(Value next = Value(), Value fetched = Value());
  /// Calls `body` with a row and a column of the tile, and the sums from there
  /// on; first all rows of a column.
  void forEachVector(ValueRange sums,
                     function_ref<void(int64_t, int64_t, Value)> body);

  VectorLoops loops;

private:
  InnerProduct product;
  /// A column of W in the panels.
  struct PanelColumn {
    Value panel, column;
  };
  PanelColumn toPanel(Value column);
  PanelColumn plus(PanelColumn first, int64_t offset);
  SmallVector<Value> multiplyAdd(Value g, ValueRange sums, bool isWhole = true);
  void fetch(Value g, Value next, Value fetched);

  Value input, weight, row, column;
  int64_t rows, columns, shift, depth;
  int64_t lanes, vectors;
  /// The first column of the tile.
  PanelColumn current;
};
} // namespace

TileSums::PanelColumn TileSums::toPanel(Value column) {
  Value width = loops.index(kPanelColumns);
  return {arith::DivUIOp::create(loops.builder, loops.loc, column, width),
          arith::RemUIOp::create(loops.builder, loops.loc, column, width)};
}

TileSums::PanelColumn TileSums::plus(PanelColumn first, int64_t offset) {
  return {loops.plus(first.panel, offset / kPanelColumns),
          loops.plus(first.column, offset % kPanelColumns)};
}

/// sums[r, v] + x[row + r, group g] * W[group g, column + v]; the depth ends in
/// a group that is not whole.
SmallVector<Value> TileSums::multiplyAdd(Value g, ValueRange sums,
                                         bool isWhole) {
  SmallVector<Value> weights, added;
  for (int64_t v = 0; v < vectors; ++v) {
    PanelColumn place = plus(current, v * lanes);
    weights.push_back(
        product.loadWeights(weight, place.panel, g, place.column, lanes));
  }
  Value k = loops.times(g, product.group());
  for (int64_t r = 0; r < rows; ++r) {
    Value x = product.broadcast(input, {loops.plus(row, r), k}, lanes, isWhole);
    for (int64_t v = 0; v < vectors; ++v)
      added.push_back(
          product.multiplyAdd(x, weights[v], sums[r * vectors + v]));
  }
  return added;
}

/// What a tile asks for at group g.
void TileSums::fetch(Value g, Value next, Value fetched) {
  Value before = arith::MulIOp::create(
      loops.builder, loops.loc, loops.dividedBy(g, kFetchingGroups), fetched);
  product.fetchRows(weight, loops.plus(next, before), fetched);
}

SmallVector<Value> TileSums::build(Value next, Value fetched) {
  int64_t unroll =
      rows * vectors > kFewOps ? kUnrolledGroups : 2 * kUnrolledGroups;
  int64_t group = product.group();
  int64_t whole = depth / group / unroll * unroll;
  current = toPanel(column);
  SmallVector<Value> starts, sums;
  for (int64_t v = 0; v < vectors; ++v) {
    PanelColumn place = plus(current, v * lanes);
    starts.push_back(
        product.start(weight, place.panel, place.column, lanes, shift));
  }
  for (int64_t r = 0; r < rows; ++r)
    sums.append(starts);
  if (whole > 0)
    sums = loops.carry(loops.index(0), loops.index(whole), unroll, sums,
                       [&](Value g, ValueRange carried) {
                         SmallVector<Value> added(carried);
                         for (int64_t step = 0; step < unroll; ++step) {
                           if (next && step % kFetchingGroups == 0)
                             fetch(loops.plus(g, step), next, fetched);
                           added = multiplyAdd(loops.plus(g, step), added);
                         }
                         return added;
                       });
  for (int64_t k = whole * group; k < depth; k += group)
    sums = multiplyAdd(loops.index(k / group), sums, k + group <= depth);
  return sums;
}

void TileSums::forEachVector(ValueRange sums,
                             function_ref<void(int64_t, int64_t, Value)> body) {
  for (int64_t v = 0; v < vectors; ++v)
    for (int64_t r = 0; r < rows; ++r)
      body(r, v * lanes, sums[r * vectors + v]);
}

void heddle::emitLinearTile(LinearTileOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  TileSums tile(op, builder, isa);
  LinearEpilogue epilogue = epilogueOf(op);
  VectorLoops &loops = tile.loops;
  tile.forEachVector(tile.build(op.getNext(), op.getFetched()),
                     [&](int64_t r, int64_t c, Value sum) {
                       epilogue.finish(sum, loops.plus(op.getRow(), r),
                                       loops.plus(op.getColumn(), c), loops);
                     });
}

void heddle::emitLinearSums(LinearSumsOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  TileSums tile(op, builder, isa);
  VectorLoops &loops = tile.loops;
  tile.forEachVector(tile.build(), [&](int64_t r, int64_t c, Value sum) {
    loops.storeVector(sum, op.getDestination(),
                      {loops.index(r), loops.index(c)});
  });
}
