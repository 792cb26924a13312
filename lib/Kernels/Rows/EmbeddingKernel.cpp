//===- EmbeddingKernel.cpp - Kernels of embedding -------------------------===//
//
// Rows of the table, in vectors, with their positions added on the way; a
// negative id reads row 0 and takes nothing of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/EmbeddingKernel.h"
#include "lib/Kernels/Rows/PositionKernels.h"
#include "lib/Kernels/Rows/ShortRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

namespace {
/// The row of a table that an id names, scaled.
class TableRow {
public:
  TableRow(RowKernel &kernel, EmbeddingOp op, Value id)
      : kernel(kernel), table(op.getTable()), divides(op.getDivides()),
        widens(op.getWiden()), scale(op.getScale().convertToDouble()) {
    Value none = kernel.loops.i32(0);
    isNone = kernel.loops.less(id, none);
    row = kernel.loops.toIndex(kernel.loops.max(id, none));
    if (Value scales = op.getScales()) {
      bool isOne = cast<MemRefType>(scales.getType()).getDimSize(0) == 1;
      rowScale = kernel.loops.load(scales, isOne ? kernel.loops.index(0) : row);
    }
  }

  Value at(const Slice &slice) const {
    OpBuilder &builder = kernel.loops.builder;
    Location loc = kernel.loops.loc;
    Value x = kernel.load(table, row, slice);
    if (rowScale)
      x = dequantize(x, slice);
    if (widens)
      x = arith::ExtFOp::create(
          builder, loc, VectorType::get(slice.lanes, builder.getF32Type()), x);
    if (scale != 1)
      x = kernel.loops.mul(x, kernel.math.constant(scale, x));
    Value zero = kernel.loops.constant(0, x);
    return kernel.loops.select(isNone, zero, x);
  }

private:
  Value dequantize(Value integers, const Slice &slice) const {
    Value factor = kernel.broadcast(rowScale, slice);
    Value x = arith::SIToFPOp::create(kernel.loops.builder, kernel.loops.loc,
                                      factor.getType(), integers);
    return divides ? kernel.loops.div(x, factor) : kernel.loops.mul(x, factor);
  }

  RowKernel &kernel;
  Value table, row, isNone, rowScale;
  bool divides, widens;
  double scale;
};
} // namespace

static void emitWithPositions(EmbeddingOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value ids = kernel.flatten(op.getIds());
  Value output = kernel.rowsOf(op.getDestinations().front());
  ShortRows shortRows(kernel, op);
  OpFoldResult width = kernel.widthOf(op.getTable());
  int64_t work = *getConstantIntValue(width);
  auto forEach = [&](int64_t rowWork, auto body) {
    forEachPosition(kernel, loops.size(ids, 0), op.getIds(), op.getPositions(),
                    rowWork, [&](Value row, Value position) {
                      body(TableRow(kernel, op, loops.load(ids, row)), position,
                           [&](Value y, const Slice &slice) {
                             kernel.store(y, output, row, slice);
                           });
                      shortRows.emit(row);
                    });
  };
  if (Value learned = op.getPositionTable())
    return forEach(
        2 * work, [&](const TableRow &x, Value position, auto store) {
          Value place = loops.add(position, *op.getOffset());
          kernel.forEachSlice(width, [&](const Slice &slice) {
            store(loops.add(x.at(slice), kernel.load(learned, place, slice)),
                  slice);
          });
        });
  Sinusoids sinusoids(kernel, op->getParentOfType<ModuleOp>(),
                      *op.getTimescales(), *op.getLayout(), work);
  forEach(
      kSinusoidWork * work, [&](const TableRow &x, Value position, auto store) {
        sinusoids.addTo(
            position, [&](const Slice &slice) { return x.at(slice); }, store);
      });
}

void heddle::emitKernel(EmbeddingOp op, RowKernel &kernel) {
  if (op.hasPositions())
    return emitWithPositions(op, kernel);
  Value ids = kernel.flatten(op.getIds());
  Value output = kernel.rowsOf(op.getDestinations().front());
  ShortRows shortRows(kernel, op);
  OpFoldResult width = kernel.widthOf(op.getTable());
  kernel.forEachRow(kernel.loops.size(ids, 0), *getConstantIntValue(width),
                    [&](Value row) {
                      TableRow x(kernel, op, kernel.loops.load(ids, row));
                      kernel.forEachSlice(width, [&](const Slice &slice) {
                        kernel.store(x.at(slice), output, row, slice);
                      });
                      shortRows.emit(row);
                    });
}
