//===- RecurrenceKernel.cpp - Kernels of recurrence -----------------------===//
//
// Time is serial, the width parallel. The full form goes through memory row by
// row: the state before is the row that was written last.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/RecurrenceKernel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace heddle;

/// sigmoid(f) before + (1 - sigmoid(f)) v; there may be no state before.
static Value advance(RowKernel &kernel, Value forget, Value value,
                     Value before) {
  Value gate = kernel.math.sigmoid(forget);
  Value taken = kernel.loops.mul(
      kernel.loops.sub(kernel.math.constant(1, gate), gate), value);
  return before ? kernel.loops.fma(gate, before, taken) : taken;
}

/// What the sigmoid makes of an element's work.
static constexpr int64_t kElementWork = 10;

static void emitStep(RecurrenceOp op, RowKernel &kernel) {
  Value state = op.getDestination();
  OpFoldResult width = kernel.widthOf(state);
  kernel.forEachRow(
      kernel.loops.size(state, 0), kElementWork * *getConstantIntValue(width),
      [&](Value row) {
        kernel.forEachSlice(width, [&](const Slice &slice) {
          kernel.store(advance(kernel, kernel.load(op.getForget(), row, slice),
                               kernel.load(op.getValue(), row, slice),
                               kernel.load(state, row, slice)),
                       state, row, slice);
        });
      });
}

void heddle::emitKernel(RecurrenceOp op, RowKernel &kernel) {
  if (op.getStep())
    return emitStep(op, kernel);
  Loops &loops = kernel.loops;
  Value result = op.getDestination();
  OpFoldResult width = kernel.widthOf(result);
  auto position = [&](Value sentence, Value at, Value before) {
    kernel.forEachSlice(width, [&](const Slice &slice) {
      auto load = [&](Value memref, Value at) {
        return kernel.load(memref, {sentence, at}, slice);
      };
      Value state = before ? load(result, before) : Value();
      kernel.store(advance(kernel, load(op.getForget(), at),
                           load(op.getValue(), at), state),
                   result, {sentence, at}, slice);
    });
  };
  // Sentences have tens of positions.
  int64_t work = 32 * kElementWork * *getConstantIntValue(width);
  kernel.forEachRow(loops.size(result, 0), work, [&](Value sentence) {
    Value one = loops.index(1);
    position(sentence, loops.index(0), Value());
    loops.loop(one, loops.size(result, 1),
               [&](Value at) { position(sentence, at, loops.sub(at, one)); });
  });
}
