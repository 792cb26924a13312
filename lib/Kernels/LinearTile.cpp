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
#include "lib/CodeGen/Loops.h"
#include "lib/Kernels/ActivationKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// f32 of a cache line.
static constexpr int64_t kLine = 16;
/// Multiply-adds of an iteration, at least.
static constexpr int64_t kUnrolledOps = 32;

namespace {
class LinearTileBuilder {
public:
  LinearTileBuilder(LinearTileOp op, OpBuilder &builder, const IsaLevel &isa)
      : op(op), loops(builder, op.getLoc()), isa(isa), rows(op.getRows()),
        depth(cast<MemRefType>(op.getWeight().getType()).getDimSize(1)),
        lanes(std::min<int64_t>(isa.lanes, op.getColumns())),
        vectors(op.getColumns() / lanes),
        type(VectorType::get(lanes, builder.getF32Type())) {}

  void build();

private:
  /// A column of W in the panels.
  struct PanelColumn {
    Value panel, column;
  };
  PanelColumn toPanel(Value column);
  SmallVector<Value> panelAt(PanelColumn first, Value k, int64_t offset);
  SmallVector<Value> multiplyAdd(Value k, int64_t offset, ValueRange sums);
  Value load(Value memref, ValueRange at, int64_t vector);
  void finish(Value y, int64_t row, int64_t vector);
  Value add(Value lhs, int64_t rhs) {
    return loops.builder.createOrFold<arith::AddIOp>(loops.loc, lhs,
                                                     loops.index(rhs));
  }
  void fetchNext(Value k);
  Value mask(int64_t vector);

  LinearTileOp op;
  Loops loops;
  IsaLevel isa;
  int64_t rows, depth, lanes, vectors;
  VectorType type;
  /// The columns of the tile, and those that come next.
  PanelColumn current, next;
};
} // namespace

LinearTileBuilder::PanelColumn LinearTileBuilder::toPanel(Value column) {
  Value width = loops.index(kPanelColumns);
  return {arith::DivUIOp::create(loops.builder, loops.loc, column, width),
          arith::RemUIOp::create(loops.builder, loops.loc, column, width)};
}

/// Where W[k, first + offset] stands.
SmallVector<Value> LinearTileBuilder::panelAt(PanelColumn first, Value k,
                                              int64_t offset) {
  return {add(first.panel, offset / kPanelColumns), k,
          add(first.column, offset % kPanelColumns)};
}

/// Row k of the columns that come next, into the L2 cache: the L1 is too small
/// for two panels.
void LinearTileBuilder::fetchNext(Value k) {
  for (int64_t c = 0, end = op.getColumns(); c < end; c += kLine)
    memref::PrefetchOp::create(loops.builder, loops.loc, op.getWeight(),
                               panelAt(next, k, c), /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
}

/// sums[r, v] + x[row + r, k + offset] * W[k + offset, column + v].
SmallVector<Value> LinearTileBuilder::multiplyAdd(Value k, int64_t offset,
                                                  ValueRange sums) {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  Value at = add(k, offset);
  if (op.getNext())
    fetchNext(at);
  SmallVector<Value> weights, added;
  for (int64_t v = 0; v < vectors; ++v)
    weights.push_back(vector::LoadOp::create(builder, loc, type, op.getWeight(),
                                             panelAt(current, at, v * lanes)));
  for (int64_t r = 0; r < rows; ++r) {
    Value x = vector::BroadcastOp::create(
        builder, loc, type,
        loops.load(op.getInput(), {add(op.getRow(), r), at}));
    for (int64_t v = 0; v < vectors; ++v)
      added.push_back(vector::FMAOp::create(builder, loc, x, weights[v],
                                            sums[r * vectors + v]));
  }
  return added;
}

/// The lanes of a vector that are columns of y.
Value LinearTileBuilder::mask(int64_t vector) {
  OpBuilder &builder = loops.builder;
  Value left = arith::SubIOp::create(builder, loops.loc,
                                     loops.lastSize(op.getDestination()),
                                     add(op.getColumn(), vector * lanes));
  return vector::CreateMaskOp::create(
      builder, loops.loc, type.clone(builder.getI1Type()), ValueRange{left});
}

/// A vector of a memref as wide as y; 0 behind its end.
Value LinearTileBuilder::load(Value memref, ValueRange at, int64_t vector) {
  OpBuilder &builder = loops.builder;
  if (!op.getPartial())
    return vector::LoadOp::create(builder, loops.loc, type, memref, at);
  Value zero =
      arith::ConstantOp::create(builder, loops.loc, builder.getZeroAttr(type));
  return vector::MaskedLoadOp::create(builder, loops.loc, type, memref, at,
                                      mask(vector), zero);
}

/// What stands behind the sum, and the store.
void LinearTileBuilder::finish(Value y, int64_t row, int64_t vector) {
  OpBuilder &builder = loops.builder;
  Value column = add(op.getColumn(), vector * lanes);
  SmallVector<Value> at = {add(op.getRow(), row), column};
  if (op.getBias())
    y = loops.add(y, load(op.getBias(), column, vector));
  if (std::optional<ActivationKind> kind = op.getActivation())
    y = emitActivation(*kind, y, VectorMath(builder, loops.loc, isa));
  if (op.getResidual())
    y = loops.add(load(op.getResidual(), at, vector), y);
  if (op.getPartial())
    vector::MaskedStoreOp::create(builder, loops.loc, op.getDestination(), at,
                                  mask(vector), y);
  else
    vector::StoreOp::create(builder, loops.loc, y, op.getDestination(), at);
}

void LinearTileBuilder::build() {
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t unroll = std::min<int64_t>(
      8, std::max<int64_t>(1, kUnrolledOps / (rows * vectors)));
  int64_t whole = depth / unroll * unroll;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<Value> sums(rows * vectors, zero);
  current = toPanel(op.getColumn());
  if (op.getNext())
    next = toPanel(op.getNext());
  if (whole > 0) {
    auto loop = scf::ForOp::create(
        builder, loc, loops.index(0), loops.index(whole), loops.index(unroll),
        sums, [&](OpBuilder &, Location, Value k, ValueRange carried) {
          SmallVector<Value> added(carried);
          for (int64_t step = 0; step < unroll; ++step)
            added = multiplyAdd(k, step, added);
          scf::YieldOp::create(builder, loc, added);
        });
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (int64_t k = whole; k < depth; ++k)
    sums = multiplyAdd(loops.index(k), 0, sums);
  for (int64_t v = 0; v < vectors; ++v)
    for (int64_t r = 0; r < rows; ++r)
      finish(sums[r * vectors + v], r, v);
}

void heddle::emitLinearTile(LinearTileOp op, const IsaLevel &isa) {
  OpBuilder builder(op);
  LinearTileBuilder(op, builder, isa).build();
}
