//===- LinearTile.cpp - Vector code of a tile of linear -------------------===//
//
// The tile of y stays in registers while k runs: per k one load a vector of the
// panel, one broadcast a row of x, and one fused multiply-add an element. Loads
// and broadcasts share a port, so that few instructions besides them may stand
// in the loop: it is unrolled, and all strides are constants. A tile that
// names the columns after it has them fetched meanwhile.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/LinearTile.h"
#include "lib/Kernels/InnerProduct.h"
#include "lib/Kernels/LinearEpilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

/// Columns of a cache line: a group has four bytes.
static constexpr int64_t kLine = 16;
/// Multiply-adds of an iteration, at least.
static constexpr int64_t kUnrolledOps = 32;

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

  /// The sums of each row, vector by vector. While they run, the columns from
  /// `fetched` on come to the L2 cache; null for none.
  SmallVector<Value> build(Value fetched = Value());
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
  void fetchNext(Value g);

  Value input, weight, row, column;
  int64_t rows, columns, shift, depth;
  int64_t lanes, vectors;
  /// The columns of the tile, and those that come next.
  PanelColumn current, next;
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

/// Group g of the columns that come next, into the L2 cache: the L1 is too
/// small for two panels.
void TileSums::fetchNext(Value g) {
  for (int64_t c = 0; c < columns; c += kLine) {
    PanelColumn place = plus(next, c);
    product.prefetchWeights(weight, place.panel, g, place.column);
  }
}

/// sums[r, v] + x[row + r, group g] * W[group g, column + v]; the depth ends in
/// a group that is not whole.
SmallVector<Value> TileSums::multiplyAdd(Value g, ValueRange sums,
                                         bool isWhole) {
  if (next.panel)
    fetchNext(g);
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

SmallVector<Value> TileSums::build(Value fetched) {
  int64_t unroll = std::min<int64_t>(
      8, std::max<int64_t>(1, kUnrolledOps / (rows * vectors)));
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
  if (fetched)
    next = toPanel(fetched);
  if (whole > 0)
    sums = loops.carry(loops.index(0), loops.index(whole), unroll, sums,
                       [&](Value g, ValueRange carried) {
                         SmallVector<Value> added(carried);
                         for (int64_t step = 0; step < unroll; ++step)
                           added = multiplyAdd(loops.plus(g, step), added);
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
  tile.forEachVector(tile.build(op.getNext()),
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
