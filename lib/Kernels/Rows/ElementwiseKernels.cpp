//===- ElementwiseKernels.cpp - Kernels of add, multiply, fill, copies ----===//
//
// Memory sets their speed: one pass, whole vectors.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/ElementwiseKernels.h"

using namespace mlir;
using namespace heddle;

/// output[row, slice] = value(row, slice), for every element of `output`.
static void
forEachElement(RowKernel &kernel, Value output,
               function_ref<Value(Value row, const Slice &slice)> value) {
  OpFoldResult width = kernel.widthOf(output);
  // Dynamic widths are those of lists of logits: hundreds at least.
  int64_t work = getConstantIntValue(width).value_or(256);
  kernel.forEachRow(kernel.loops.size(output, 0), work, [&](Value row) {
    kernel.forEachSlice(width, [&](const Slice &slice) {
      kernel.store(value(row, slice), output, row, slice);
    });
  });
}

void heddle::emitKernel(AddOp op, RowKernel &kernel) {
  Value lhs = kernel.rowsOf(op.getLhs()), rhs = kernel.rowsOf(op.getRhs());
  forEachElement(kernel, kernel.rowsOf(op.getDestination()),
                 [&](Value row, const Slice &slice) {
                   return kernel.loops.add(kernel.load(lhs, row, slice),
                                           kernel.load(rhs, row, slice));
                 });
}

void heddle::emitKernel(MultiplyOp op, RowKernel &kernel) {
  Value lhs = kernel.rowsOf(op.getLhs()), rhs = kernel.rowsOf(op.getRhs());
  forEachElement(kernel, kernel.rowsOf(op.getDestination()),
                 [&](Value row, const Slice &slice) {
                   return kernel.loops.mul(kernel.load(lhs, row, slice),
                                           kernel.load(rhs, row, slice));
                 });
}

void heddle::emitKernel(FillOp op, RowKernel &kernel) {
  Value value = kernel.loops.f32(op.getValue().convertToDouble());
  forEachElement(kernel, kernel.rowsOf(op.getDestination()),
                 [&](Value, const Slice &slice) {
                   return kernel.broadcast(value, slice);
                 });
}

void heddle::emitKernel(memref::CopyOp op, RowKernel &kernel) {
  Value source = kernel.rowsOf(op.getSource());
  forEachElement(kernel, kernel.rowsOf(op.getTarget()),
                 [&](Value row, const Slice &slice) {
                   return kernel.load(source, row, slice);
                 });
}
