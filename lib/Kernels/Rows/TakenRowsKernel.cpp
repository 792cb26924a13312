//===- TakenRowsKernel.cpp - Kernels of take_rows and put_rows ------------===//
//
// A copy of each row that a list names: only these rows are read and written.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/TakenRowsKernel.h"
#include "lib/CodeGen/Loops/ListedRow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// body(b, t, row) for the rows of `rows` that tokens[b, t] name.
static void
forEachToken(RowKernel &kernel, Value tokens, Value rows,
             function_ref<void(Value, Value, const ListedRow &)> body) {
  OpBuilder &builder = kernel.loops.builder;
  Location loc = kernel.loops.loc;
  Value list = kernel.flatten(tokens), places = kernel.loops.size(tokens, 1);
  int64_t width = *getConstantIntValue(kernel.widthOf(rows));
  kernel.forEachRow(kernel.loops.size(list, 0), width, [&](Value number) {
    Value b = kernel.loops.udiv(number, places);
    Value t = kernel.loops.urem(number, places);
    body(b, t,
         findListedRow(builder, loc, kernel.loops.load(list, number), rows));
  });
}

void heddle::emitKernel(TakeRowsOp op, RowKernel &kernel) {
  Value input = op.getInput();
  forEachToken(kernel, op.getTokens(), input,
               [&](Value b, Value t, const ListedRow &listed) {
                 kernel.forEachSlice(
                     kernel.widthOf(input), [&](const Slice &slice) {
                       Value x = kernel.load(input, {b, listed.row}, slice);
                       Value zero = kernel.loops.constant(0, x);
                       kernel.store(kernel.loops.select(listed.isRow, x, zero),
                                    op.getDestination(), {b, t}, slice);
                     });
               });
}

void heddle::emitKernel(PutRowsOp op, RowKernel &kernel) {
  Value input = op.getInput(), result = op.getDestination();
  auto copy = [&](Value b, Value t, Value row) {
    kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
      kernel.store(kernel.load(input, {b, t}, slice), result, {b, row}, slice);
    });
  };
  forEachToken(kernel, op.getTokens(), result,
               [&](Value b, Value t, const ListedRow &listed) {
                 scf::IfOp::create(kernel.loops.builder, kernel.loops.loc,
                                   listed.isRow,
                                   [&](OpBuilder &inside, Location loc) {
                                     copy(b, t, listed.row);
                                     scf::YieldOp::create(inside, loc);
                                   });
               });
}
