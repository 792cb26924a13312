//===- PoolKernel.cpp - Kernels of pool and normalize ---------------------===//
//
// A thread has whole sequences. It sums a vector of columns over all positions
// before it goes on to the next columns, so that sums stay in registers.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/PoolKernel.h"
#include "lib/CodeGen/Loops/PoolLoops.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

void heddle::emitKernel(PoolOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = op.getInput(), result = op.getDestination();
  int64_t width = *getConstantIntValue(kernel.widthOf(input));
  // Sequences have tens of positions.
  int64_t work = 32 * width;
  Value count = loops.size(op.getLengths(), 0);
  kernel.forEachRow(count, work, [&](Value sequence) {
    PooledPositions positions = findPooledPositions(op, sequence, loops);
    auto poolSlice = [&](const Slice &slice) {
      auto columns = [&](Value i) {
        return kernel.load(input, pooledRow(positions, i, loops), slice);
      };
      Value zero = kernel.broadcast(loops.f32(0), slice);
      for (auto [number, mode] : llvm::enumerate(op.getModeList())) {
        Slice place = slice;
        place.column = loops.add(slice.column, int64_t(number) * width);
        auto before = [&] { return kernel.load(result, {sequence}, place); };
        kernel.store(
            poolColumn(mode, positions, {zero, columns, before}, loops), result,
            {sequence}, place);
      }
    };
    ifPooled(positions, loops,
             [&] { kernel.forEachSlice(kernel.widthOf(input), poolSlice); });
  });
}

void heddle::emitKernel(NormalizeOp op, RowKernel &kernel) {
  Loops &loops = kernel.loops;
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  OpFoldResult width = kernel.widthOf(input);
  int64_t columns = *getConstantIntValue(width);
  kernel.forEachRow(loops.size(input, 0), 2 * columns + 64, [&](Value row) {
    Value squares =
        kernel.sumOfRow(columns, [&](Value sum, const Slice &slice) {
          Value x = kernel.load(input, row, slice);
          return loops.fma(x, x, sum);
        });
    Value length =
        loops.max(math::SqrtOp::create(loops.builder, loops.loc, squares),
                  loops.f32(op.getEpsilon().convertToDouble()));
    kernel.forEachSlice(width, [&](const Slice &slice) {
      kernel.store(loops.div(kernel.load(input, row, slice),
                             kernel.broadcast(length, slice)),
                   output, row, slice);
    });
  });
}
