//===- RecurrenceGrid.cpp - recurrence on a GPU ---------------------------===//
//
// A thread loads f and v of eight positions before it computes the first state:
// only the states depend on each other. Gates do not, so the chain from state
// to state is one fused multiply-add long. Neighbouring threads have
// neighbouring columns, so that each load of a warp is one stretch of memory. A
// step has one position: it updates the states in place, piece by piece.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/RecurrenceGrid.h"
#include "lib/Kernels/Gpu/Rows/PieceGrid.h"
#include "lib/Kernels/Gpu/Threads/GridMath.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kThreads = 128;
/// Positions whose loads are under way at once.
static constexpr int64_t kAhead = 8;

/// sigmoid(f) before + (1 - sigmoid(f)) v.
static Value advance(Value forget, Value value, Value before, BlockCode &code) {
  Value gate = GridMath(code).sigmoid(forget);
  Value taken = code.mul(code.sub(code.f32(1), gate), value);
  return code.fma(gate, before, taken);
}

static void emitStep(RecurrenceOp op, OpBuilder &builder) {
  Value f = op.getForget(), v = op.getValue(), state = op.getDestination();
  Loops loops(builder, op.getLoc());
  createPieceGrid(builder, op.getLoc(), {f, v, state}, countRows(state, loops),
                  [&](const Piece &piece, BlockCode &code) {
                    auto load = [&](Value memref) {
                      return piece.load(memref, piece.row, code);
                    };
                    SmallVector<Value> after;
                    for (auto [forget, value, before] :
                         llvm::zip(load(f), load(v), load(state)))
                      after.push_back(advance(forget, value, before, code));
                    piece.store(after, state, piece.row, code);
                  });
}

/// The positions of one column of a sentence, i32.
static void passColumn(RecurrenceOp op, Value sentence, Value column,
                       BlockCode &code) {
  Type f32 = code.builder.getF32Type();
  Value result = op.getDestination();
  Value length = code.toI32(code.size(result, 1));
  Value pitch = code.mul(code.toI32(code.lastSize(result)), sizeof(float));
  Value inRow = code.mul(column, sizeof(float));
  auto firstOf = [&](Value memref) {
    Value rows = code.at(code.global(memref),
                         code.rowOffset(code.mul(sentence, length), pitch));
    return code.at(rows, inRow);
  };
  Value forgets = firstOf(op.getForget()), values = firstOf(op.getValue()),
        states = firstOf(result);
  auto passSome = [&](Value number, ValueRange before) -> SmallVector<Value> {
    Value first = code.mul(number, kAhead);
    SmallVector<Value> offsets, f, v;
    for (int64_t ahead = 0; ahead < kAhead; ++ahead) {
      // Behind the last position it is read again.
      Value at =
          code.umin(code.add(first, ahead), code.sub(length, code.i32(1)));
      offsets.push_back(code.rowOffset(at, pitch));
      f.push_back(code.loadOne(f32, code.at(forgets, offsets.back())));
      v.push_back(code.loadOne(f32, code.at(values, offsets.back())));
    }
    Value state = before[0];
    for (int64_t ahead = 0; ahead < kAhead; ++ahead) {
      state = advance(f[ahead], v[ahead], state, code);
      code.ifThen(code.uless(code.add(first, ahead), length), [&] {
        code.storeOne(state, code.at(states, offsets[ahead]));
      });
    }
    return {state};
  };
  Value steps = code.udiv(code.add(length, kAhead - 1), code.i32(kAhead));
  // Times a gate and added, -0 changes no bit of the first state.
  code.foldAll(steps, code.f32(-0.0), passSome);
}

LogicalResult heddle::emitGrid(RecurrenceOp op) {
  Value result = op.getDestination();
  if (!havePieces({op.getForget(), op.getValue(), result}))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  if (op.getStep()) {
    emitStep(op, builder);
    return success();
  }
  Loops loops(builder, loc);
  Value width = loops.lastSize(result);
  Value sentences = loops.size(result, 0);
  Value columns = loops.mul(sentences, width);
  Value blocks = loops.uceilDiv(columns, kThreads);
  createGrid(
      builder, loc, blocks, {kThreads}, [&](BlockCode &code, Value block) {
        auto [sentence, column] = code.placeInRows(block, code.toI32(width));
        code.ifThen(code.uless(sentence, code.toI32(sentences)),
                    [&, sentence = sentence, column = column] {
                      passColumn(op, sentence, column, code);
                    });
      });
  return success();
}
