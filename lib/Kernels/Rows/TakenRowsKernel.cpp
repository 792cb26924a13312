//===- TakenRowsKernel.cpp - Kernels of take_rows and put_rows ------------===//
//
// A copy of each row that a list names: only these rows are read and written.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/TakenRowsKernel.h"
#include "lib/CodeGen/Loops/ListedRow.h"

using namespace mlir;
using namespace heddle;

/// body(batch, t, row) for the rows of `rows` that tokens[b, t] name; `batch`
/// is b, or nothing where tokens and rows have no batch.
static void
forEachToken(RowKernel &kernel, Value tokens, Value rows,
             function_ref<void(ValueRange, Value, const ListedRow &)> body) {
  Loops &loops = kernel.loops;
  Value list = kernel.flatten(tokens);
  bool isRagged = cast<MemRefType>(tokens.getType()).getRank() == 1;
  Value places = isRagged ? Value() : loops.size(tokens, 1);
  int64_t width = *getConstantIntValue(kernel.widthOf(rows));
  kernel.forEachRow(loops.size(list, 0), width, [&](Value number) {
    ListedRow listed =
        findListedRow(loops.builder, loops.loc, loops.load(list, number), rows);
    if (isRagged)
      return body({}, number, listed);
    body(loops.udiv(number, places), loops.urem(number, places), listed);
  });
}

void heddle::emitKernel(TakeRowsOp op, RowKernel &kernel) {
  Value input = op.getInput();
  forEachToken(
      kernel, op.getTokens(), input,
      [&](ValueRange batch, Value t, const ListedRow &listed) {
        kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
          Value x = kernel.load(input, append(batch, listed.row), slice);
          Value zero = kernel.loops.constant(0, x);
          kernel.store(kernel.loops.select(listed.isRow, x, zero),
                       op.getDestination(), append(batch, t), slice);
        });
      });
}

void heddle::emitKernel(PutRowsOp op, RowKernel &kernel) {
  Value input = op.getInput(), result = op.getDestination();
  forEachToken(
      kernel, op.getTokens(), result,
      [&](ValueRange batch, Value t, const ListedRow &listed) {
        kernel.loops.ifThen(listed.isRow, [&] {
          kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
            kernel.store(kernel.load(input, append(batch, t), slice), result,
                         append(batch, listed.row), slice);
          });
        });
      });
}
