#include "lib/CodeGen/CallLayout.h"
#include "lib/Kernels/Gpu/RuntimeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace heddle;

void heddle::buildRowMover(ModuleOp module, int64_t number) {
  RuntimeKernel kernel(module,
                       {HEDDLE_MOVE_ROWS, number, HEDDLE_MOVE_THREADS, 4, 4});
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
  Value rows = load(MoveField::Rows), words = load(MoveField::Words);
  Value ofThread = load(MoveField::RowsOfThread);
  Value gathers = code.isDifferent(load(MoveField::Gathers), code.i32(0));

  // A thread has one word of some rows, which it moves in their order.
  Value place = kernel.threadOfGrid();
  Value column = code.times(code.remainder(place, words), 4);
  Value first = code.times(code.dividedBy(place, words), ofThread);
  Value end = code.least(code.plus(first, ofThread), rows);
  auto at = [&](Value base, Value row) {
    Value wide =
        arith::ExtUIOp::create(builder, code.loc, builder.getI64Type(), row);
    Value offset = arith::MulIOp::create(builder, code.loc, wide, pitch);
    return code.at(code.at(base, offset), column);
  };
  code.when(code.isLess(first, rows), [&] {
    scf::ForOp::create(
        builder, code.loc, first, end, code.i32(1), ValueRange(),
        [&](OpBuilder &, Location loc, Value row, ValueRange) {
          Value parent =
              code.loadOne(i32, code.at(parents, code.times(row, 4)));
          code.when(code.isDifferent(parent, row), [&] {
            Value source = code.choose(gathers, parent, row);
            code.storeOne(code.loadOne(i32, at(from, source)), at(to, row));
          });
          scf::YieldOp::create(builder, loc);
        });
  });
}
