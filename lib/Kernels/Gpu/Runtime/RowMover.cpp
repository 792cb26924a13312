//===- RowMover.cpp - Rows that become those of their parents -------------===//
//
// A thread has one piece, 16 or 4 bytes, of some rows, and moves them in
// ascending order. If one thread has the piece of all rows and each parent
// stands at or behind its row, the rows move in place: a parent is read before
// it is overwritten. Rows that are their own parents are not written. Pieces
// and pitch come as numbers at run time, so that one kernel serves rows of any
// size.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CallLayout.h"
#include "lib/Kernels/Gpu/Runtime/RuntimeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

void heddle::buildRowMover(ModuleOp module, int64_t number) {
  RuntimeKernel kernel(module,
                       {HEDDLE_MOVE_ROWS, number, HEDDLE_MOVE_THREADS, 4, 5});
  BlockCode &code = kernel.code();
  auto load = [&](MoveField field) { return kernel.load(int32_t(field)); };
  auto pointerTo = [&](MoveField field) {
    return kernel.pointerTo(int32_t(field));
  };
  OpBuilder &builder = code.builder;
  Type i32 = builder.getI32Type();
  Value from = pointerTo(MoveField::From), to = pointerTo(MoveField::To);
  Value parents = pointerTo(MoveField::Parents);
  Value pitch = load(MoveField::RowBytes);
  Value rows = load(MoveField::Rows), pieces = load(MoveField::Pieces);
  Value pieceBytes = load(MoveField::PieceBytes);
  Value ofThread = load(MoveField::RowsOfThread);
  Value gathers = code.notEqual(load(MoveField::Gathers), code.i32(0));

  Value place = kernel.threadOfGrid();
  Value column = code.mul(code.urem(place, pieces), pieceBytes);
  Value first = code.mul(code.udiv(place, pieces), ofThread);
  Value end = code.umin(code.add(first, ofThread), rows);
  auto at = [&](Value base, Value row) {
    Value wide =
        arith::ExtUIOp::create(builder, code.loc, builder.getI64Type(), row);
    Value offset = code.mul(wide, pitch);
    return code.at(code.at(base, offset), column);
  };
  auto moveRows = [&](int64_t words) {
    scf::ForOp::create(
        builder, code.loc, first, end, code.i32(1), ValueRange(),
        [&](OpBuilder &, Location loc, Value row, ValueRange) {
          Value parent = code.loadOne(i32, code.at(parents, code.mul(row, 4)));
          code.ifThen(code.notEqual(parent, row), [&] {
            Value source = code.select(gathers, parent, row);
            code.storeMany(code.loadMany(i32, words, at(from, source)),
                           at(to, row));
          });
          scf::YieldOp::create(builder, loc);
        });
  };
  code.ifThen(code.uless(first, rows), [&] {
    code.ifThen(code.uless(code.i32(4), pieceBytes), [&] { moveRows(4); });
    code.ifThen(code.uless(pieceBytes, code.i32(16)), [&] { moveRows(1); });
  });
}
