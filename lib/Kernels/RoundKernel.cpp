//===- RoundKernel.cpp - Kernels of round ---------------------------------===//
//
// vcvtneps2bf16 where there is one: it takes denormals for zeros whatever the
// thread's mode is, and RoundOp follows it. Eight integer instructions
// elsewhere.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/RoundKernel.h"
#include "lib/CodeGen/RoundToBf16.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace heddle;

/// Lanes of the narrowest vector that the instruction rounds without a mask.
static constexpr int64_t kFewestLanes = 8;

Value heddle::roundToBf16(Value x, const VectorMath &math) {
  OpBuilder &builder = math.builder;
  auto type = cast<VectorType>(x.getType());
  int64_t lanes = type.getNumElements();
  if (!math.isa.hasBf16 || lanes < kFewestLanes)
    return roundToBf16(builder, math.loc, x);
  std::string name =
      "llvm.x86.avx512bf16.cvtneps2bf16." + std::to_string(32 * lanes);
  return LLVM::CallIntrinsicOp::create(builder, math.loc,
                                       type.clone(builder.getBF16Type()),
                                       builder.getStringAttr(name), x)
      .getResult(0);
}

void heddle::roundRow(RowKernel &kernel, Value input, Value row, Value output) {
  kernel.forEachSlice(kernel.widthOf(input), [&](const Slice &slice) {
    Value x = kernel.load(input, row, slice);
    kernel.store(roundToBf16(x, kernel.math), output, row, slice);
  });
}

void heddle::emitKernel(RoundOp op, RowKernel &kernel) {
  Value input = kernel.rowsOf(op.getInput());
  Value output = kernel.rowsOf(op.getDestination());
  int64_t work = getConstantIntValue(kernel.widthOf(input)).value_or(1);
  kernel.forEachRow(kernel.loops.size(input, 0), work,
                    [&](Value row) { roundRow(kernel, input, row, output); });
}
