//===- CacheKernel.cpp - Kernels of caches and of last rows ---------------===//
//
// A copy of each row that a later position reads.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/CacheKernel.h"
#include "lib/CodeGen/Loops/CacheSlot.h"
#include "lib/CodeGen/Loops/ListedRow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace heddle;

/// input[at, :] becomes a position of the cache of the first of `at`.
template <typename Op>
static void writeToCache(Op op, ValueRange at, Value position,
                         RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = op.getInput(), cache = op.getDestination(), row = at.front();
  if (op.getCaches())
    row = loops.toIndex(loops.load(op.getCaches(), row));
  Value slot = buildCacheSlot(loops.builder, loops.loc, position,
                              loops.size(cache, 1), op.getPinned());
  kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
    kernel.store(kernel.load(input, at, slice), cache, {row, slot}, slice);
  });
}

void heddle::emitKernel(CacheAppendOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = op.getInput();
  kernel.forEachRow(
      loops.size(input, 0), *getConstantIntValue(kernel.widthOf(input)),
      [&](Value row) {
        Value position = loops.toIndex(loops.load(op.getPositions(), row));
        writeToCache(op, row, position, kernel);
      });
}

void heddle::emitKernel(CacheFillOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  OpBuilder &builder = loops.builder;
  Value input = op.getInput(), places = loops.size(input, 1);
  Value count = loops.mul(loops.size(input, 0), places);
  kernel.forEachRow(
      count, *getConstantIntValue(kernel.widthOf(input)), [&](Value number) {
        Value sentence = loops.udiv(number, places);
        Value position = loops.urem(number, places);
        Value length = loops.toIndex(loops.load(op.getLengths(), sentence));
        Value stays =
            staysInCache(builder, loops.loc, position, length,
                         loops.size(op.getDestination(), 1), op.getPinned());
        scf::IfOp::create(
            builder, loops.loc, stays, [&](OpBuilder &inside, Location loc) {
              writeToCache(op, {sentence, position}, position, kernel);
              scf::YieldOp::create(inside, loc);
            });
      });
}

void heddle::emitKernel(LastRowsOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  OpBuilder &builder = loops.builder;
  Value input = op.getInput();
  OpFoldResult width = kernel.widthOf(input);
  kernel.forEachRow(
      loops.size(input, 0), *getConstantIntValue(width), [&](Value sentence) {
        Value length = loops.load(op.getLengths(), sentence);
        Value last = loops.sub(length, loops.toI32(loops.index(1)));
        ListedRow listed = findListedRow(builder, loops.loc, last, input);
        kernel.forEachSlice(width, [&](const Slice &slice) {
          Value x = kernel.load(input, {sentence, listed.row}, slice);
          Value zero = loops.constant(0, x);
          kernel.store(loops.select(listed.isRow, x, zero), op.getDestination(),
                       sentence, slice);
        });
      });
}
