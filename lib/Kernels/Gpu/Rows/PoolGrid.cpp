//===- PoolGrid.cpp - pool on a GPU ---------------------------------------===//
//
// A thread has a column of a sequence, over all positions: neighbours have
// neighbouring ones, so that each load of a warp is one stretch of memory.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Gpu/Rows/PoolGrid.h"
#include "lib/CodeGen/Loops/PoolLoops.h"
#include "lib/Kernels/Gpu/Threads/BlockCode.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kThreads = 128;

/// All modes of one column, an i32, of a sequence, an i32.
static void poolThread(PoolOp op, Value sequence, Value column,
                       BlockCode &code) {
  Type f32 = code.builder.getF32Type();
  Value input = op.getInput(), result = op.getDestination();
  int64_t width = typeOf(input).getShape().back();
  Value pitch = code.i32(width * int64_t(sizeof(float)));
  PooledPositions positions =
      findPooledPositions(op, code.toIndex(sequence), code);
  auto placeOf = [&](Value memref, Value row) {
    Value start = code.at(code.global(memref), code.rowOffset(row, pitch));
    return code.at(start, code.mul(column, sizeof(float)));
  };
  auto element = [&](Value i) {
    SmallVector<Value> at = pooledRow(positions, i, code);
    Value row = at.back();
    if (!positions.isRagged)
      row = code.add(code.mul(at.front(), code.size(input, 1)), row);
    return code.loadOne(f32, placeOf(input, code.toI32(row)));
  };
  SmallVector<Pooling> modes = op.getModeList();
  ifPooled(positions, code, [&] {
    for (auto [number, mode] : llvm::enumerate(modes)) {
      Value place =
          placeOf(result, code.add(code.mul(sequence, int64_t(modes.size())),
                                   int64_t(number)));
      auto before = [&] { return code.loadOne(f32, place); };
      code.storeOne(
          poolColumn(mode, positions, {code.f32(0), element, before}, code),
          place);
    }
  });
}

LogicalResult heddle::emitGrid(PoolOp op) {
  Value input = op.getInput();
  SmallVector<Value> memrefs = {input, op.getLengths(), op.getDestination()};
  for (Value each : {op.getFirst(), op.getStarts()})
    if (each)
      memrefs.push_back(each);
  if (!areDense(memrefs))
    return failure();
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Loops loops(builder, loc);
  Value sequences = loops.size(op.getLengths(), 0),
        width = loops.lastSize(input);
  Value blocks = loops.uceilDiv(loops.mul(sequences, width), kThreads);
  createGrid(
      builder, loc, blocks, {kThreads}, [&](BlockCode &code, Value block) {
        auto [sequence, column] = code.placeInRows(block, code.toI32(width));
        code.ifThen(code.uless(sequence, code.toI32(sequences)),
                    [&, sequence = sequence, column = column] {
                      poolThread(op, sequence, column, code);
                    });
      });
  return success();
}
