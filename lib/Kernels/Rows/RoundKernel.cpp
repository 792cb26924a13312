//===- RoundKernel.cpp - Kernels of round ---------------------------------===//
//
// vcvtneps2bf16 where there is one: it takes denormals for zeros whatever the
// thread's mode is, and RoundOp follows it. Eight integer instructions
// elsewhere. To f16 vcvtps2ph, which all levels have.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Rows/RoundKernel.h"
#include "lib/CodeGen/Loops/RoundFloats.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;

/// Lanes of the narrowest vector that the instruction rounds without a mask.
static constexpr int64_t kFewestLanes = 8;

Value heddle::roundTo(Type element, Value x, const VectorMath &math) {
  OpBuilder &builder = math.builder;
  auto type = cast<VectorType>(x.getType());
  int64_t lanes = type.getNumElements();
  if (!element.isBF16() || !math.hasBf16 || lanes < kFewestLanes)
    return roundTo(element, builder, math.loc, x);
  std::string name =
      "llvm.x86.avx512bf16.cvtneps2bf16." + std::to_string(32 * lanes);
  return LLVM::CallIntrinsicOp::create(builder, math.loc, type.clone(element),
                                       builder.getStringAttr(name), x)
      .getResult(0);
}

void heddle::roundRow(RowKernel &kernel, Value input, Value row, Value output) {
  Type element = cast<MemRefType>(output.getType()).getElementType();
  kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
    Value x = kernel.load(input, row, slice);
    kernel.store(roundTo(element, x, kernel.math), output, row, slice);
  });
}

void heddle::emitKernel(RoundOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  int64_t work = getConstantIntValue(kernel.widthOf(input)).value_or(1);
  kernel.forEachRow(kernel.loops.size(input, 0), work,
                    [&](Value row) { roundRow(kernel, input, row, output); });
}
