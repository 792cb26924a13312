//===- NormKernel.cpp - Kernels of norm -----------------------------------===//
//
// A row is read once where it fits registers, and otherwise three times: for
// its mean, its variance and its result, from a cache that is close by then.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/NormKernel.h"
#include "lib/Kernels/Rows/ShortRows.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace heddle;

void heddle::emitNormRow(RowKernel &kernel, const NormWeights &weights,
                         function_ref<Value(const Slice &)> input,
                         function_ref<void(Value, const Slice &)> output) {
  Loops &loops = kernel.loops;
  OpBuilder &builder = loops.builder;
  Location loc = loops.loc;
  int64_t width = weights.width;
  bool centered = weights.kind == NormKind::Layer;
  bool inRegisters = kernel.fitsRegisters(width);

  SmallVector<Value> row;
  if (inRegisters)
    for (const Slice &slice : kernel.slicesOf(width))
      row.push_back(input(slice));
  auto x = [&](const Slice &slice) {
    return inRegisters ? row[slice.number] : input(slice);
  };
  Value mean;
  if (centered)
    mean = loops.div(kernel.sumOfRow(width,
                                     [&](Value sum, const Slice &slice) {
                                       return loops.add(sum, x(slice));
                                     }),
                     loops.f32(width));
  auto deviation = [&](const Slice &slice) -> Value {
    if (!centered)
      return x(slice);
    Value result = loops.sub(x(slice), kernel.broadcast(mean, slice));
    if (!slice.mask)
      return result;
    return loops.select(slice.mask, result, kernel.math.constant(0, result));
  };
  Value squares =
      kernel.sumOfRow(width, [&](Value sum, const Slice &slice) -> Value {
        Value each = deviation(slice);
        return kernel.loops.fma(each, each, sum);
      });
  Value variance = loops.div(squares, loops.f32(width));
  Value scale = loops.div(
      loops.f32(1),
      math::SqrtOp::create(builder, loc,
                           loops.add(variance, loops.f32(weights.epsilon))));
  auto finish = [&](const Slice &slice) {
    Value y = loops.mul(deviation(slice), kernel.broadcast(scale, slice));
    Value gamma = kernel.load(weights.gamma, {}, slice);
    output(weights.beta ? kernel.loops.fma(y, gamma,
                                           kernel.load(weights.beta, {}, slice))
                        : loops.mul(y, gamma),
           slice);
  };
  if (inRegisters)
    llvm::for_each(kernel.slicesOf(width), finish);
  else
    kernel.forEachSlice(builder.getIndexAttr(width), finish);
}

void heddle::emitKernel(NormOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestinations().front());
  ShortRows shortRows(kernel, op);
  Value residual;
  if (op.getResidual())
    residual = kernel.rowsOf(op.getResidual());
  NormWeights weights{op.getKind(), op.getEpsilon().convertToDouble(),
                      cast<MemRefType>(input.getType()).getDimSize(1),
                      op.getGamma(), op.getBeta()};
  // Three passes and some scalar arithmetic.
  int64_t work = 4 * weights.width + 64;
  kernel.forEachRow(kernel.loops.size(input, 0), work, [&](Value row) {
    emitNormRow(
        kernel, weights,
        [&](const Slice &slice) {
          Value x = kernel.load(input, row, slice);
          return residual
                     ? kernel.loops.add(x, kernel.load(residual, row, slice))
                     : x;
        },
        [&](Value value, const Slice &slice) {
          kernel.store(value, output, row, slice);
        });
    shortRows.emit(row);
  });
}
