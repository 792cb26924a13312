//===- CacheKernel.cpp - Kernels of cache.append --------------------------===//
//
// A copy of a row to its slot.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/CacheKernel.h"
#include "lib/CodeGen/CacheSlot.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace heddle;

void heddle::emitKernel(CacheAppendOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = op.getInput(), cache = op.getDestination();
  OpFoldResult width = kernel.widthOf(input);
  Value slots = loops.size(cache, 1);
  kernel.forEachRow(
      loops.size(input, 0), *getConstantIntValue(width), [&](Value row) {
        Value position = loops.toIndex(loops.load(op.getPositions(), row));
        Value slot = buildCacheSlot(loops.builder, loops.loc, position, slots,
                                    op.getPinned());
        kernel.forEachSlice(width, [&](const Slice &slice) {
          kernel.store(kernel.load(input, row, slice), cache, {row, slot},
                       slice);
        });
      });
}
