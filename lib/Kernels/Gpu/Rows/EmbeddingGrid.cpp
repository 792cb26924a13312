//===- EmbeddingGrid.cpp - embedding on a GPU, a warp a row ---------------===//
//
// A warp loads a row of the table, makes f32 of it, scales it, adds the
// position and stores the result, in fewer bits, too, if the op says so: one
// load and one store of each row. A negative id reads row 0 and takes zeros
// instead, so that no lane branches. The position is added to such a row, too.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/EmbeddingGrid.h"
#include "lib/Kernels/Gpu/Rows/WarpRow.h"
#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

/// The row `id` of the table, as f32, times the scale: EmbeddingOp's formula.
static SmallVector<Value> lookUp(EmbeddingOp op, Value id, WarpRow &row,
                                 BlockCode &code) {
  OpBuilder &builder = code.builder;
  Type f32 = builder.getF32Type();
  Value scale;
  if (Value scales = op.getScales()) {
    bool isOne = typeOf(scales).getDimSize(0) == 1;
    scale = code.loadWord(scales, isOne ? code.i32(0) : id);
  }
  return llvm::map_to_vector(row.load(op.getTable(), id), [&](Value entry) {
    if (scale) {
      entry = arith::SIToFPOp::create(builder, code.loc, f32, entry);
      entry = op.getDivides() ? code.div(entry, scale) : code.mul(entry, scale);
    }
    if (op.getWiden())
      entry = arith::ExtFOp::create(builder, code.loc, f32, entry);
    return code.mul(entry, code.f32(op.getScale().convertToFloat()));
  });
}

static void embed(EmbeddingOp op, WarpRow &row, int64_t width,
                  BlockCode &code) {
  Value i = row.getRow(), id = code.loadWord(op.getIds(), i);
  Value isZero = code.less(id, code.i32(0));
  Value inside = code.select(isZero, code.i32(0), id);
  SmallVector<Value> y = lookUp(op, inside, row, code);
  for (Value &value : y)
    value = code.select(isZero, code.f32(0), value);
  if (op.hasPositions()) {
    Value position = op.getPositions()
                         ? code.loadWord(op.getPositions(), i)
                         : code.urem(i, code.toI32(code.size(op.getIds(), 1)));
    if (Value table = op.getPositionTable()) {
      Value at = code.add(position, *op.getOffset());
      for (auto [value, term] : llvm::zip(y, row.load(table, at)))
        value = code.add(value, term);
    } else {
      Sinusoid sinusoid = {int64_t(*op.getTimescales()), *op.getLayout(),
                           width};
      for (auto [value, column] : llvm::zip(y, row.columns()))
        value = code.add(value, sinusoidAt(sinusoid, position, column, code));
    }
  }
  row.storeAlso(y, cast<ShortRowsOpInterface>(op.getOperation()));
}

LogicalResult heddle::emitGrid(EmbeddingOp op) {
  Value table = op.getTable(), result = op.getDestinations().front();
  bool isOfFloats =
      typeOf(table).getElementType().isF32() || op.getScales() || op.getWiden();
  if (typeOf(table).getRank() != 2 || !isOfFloats ||
      !areDense(op->getOperands()) || !haveWarpRows({table, result}))
    return failure();
  OpBuilder builder(op);
  Loops loops(builder, op.getLoc());
  Value count = loops.size(op.getIds(), 0);
  if (typeOf(op.getIds()).getRank() == 2)
    count = loops.mul(count, loops.size(op.getIds(), 1));
  int64_t width = typeOf(table).getDimSize(1);
  createRowGrid(
      builder, op.getLoc(), count, width,
      [&](WarpRow &row, BlockCode &code) { embed(op, row, width, code); });
  return success();
}
