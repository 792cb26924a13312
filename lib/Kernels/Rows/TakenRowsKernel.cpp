//===- TakenRowsKernel.cpp - Kernels of take_rows and put_rows ------------===//
//
// A copy of each row that a list names: only these rows are read and written.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/TakenRowsKernel.h"
#include "lib/CodeGen/Loops/ListedRow.h"

using namespace mlir;
using namespace heddle;

/// body(at, listed) for the numbers of lists, at the coordinates `at`.
static void
forEachToken(RowKernel &kernel, const RowLists &lists,
             function_ref<void(ValueRange, const ListedPlace &)> body) {
  Loops &loops = kernel.loops;
  Value list = kernel.flatten(lists.tokens);
  bool isOne = cast<MemRefType>(lists.tokens.getType()).getRank() == 1;
  Value places = isOne ? Value() : loops.size(lists.tokens, 1);
  int64_t width = *getConstantIntValue(kernel.widthOf(lists.rows));
  kernel.forEachRow(loops.size(list, 0), width, [&](Value number) {
    SmallVector<Value, 2> at = {number};
    if (!isOne)
      at = {loops.udiv(number, places), loops.urem(number, places)};
    body(at, findListedPlace(loops.builder, loops.loc, lists, at));
  });
}

void heddle::emitKernel(TakeRowsOp op, RowKernel &kernel) {
  Value input = op.getInput();
  forEachToken(kernel, {op.getTokens(), input, op.getStarts(), op.getLengths()},
               [&](ValueRange at, const ListedPlace &listed) {
                 kernel.forEachSlice(
                     kernel.widthOf(input), [&](const Slice &slice) {
                       Value x = kernel.load(input, listed.row, slice);
                       Value zero = kernel.loops.constant(0, x);
                       kernel.store(kernel.loops.select(listed.isRow, x, zero),
                                    op.getDestination(), at, slice);
                     });
               });
}

void heddle::emitKernel(PutRowsOp op, RowKernel &kernel) {
  Value input = op.getInput(), result = op.getDestination();
  forEachToken(
      kernel, {op.getTokens(), result, op.getStarts(), op.getLengths()},
      [&](ValueRange at, const ListedPlace &listed) {
        kernel.loops.ifThen(listed.isRow, [&] {
          kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
            kernel.store(kernel.load(input, at, slice), result, listed.row,
                         slice);
          });
        });
      });
}
