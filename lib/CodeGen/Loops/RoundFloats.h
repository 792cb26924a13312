//===- RoundFloats.h - f32 to bf16 or f16 and back --------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_LOOPS_ROUNDFLOATS_H
#define HEDDLE_LIB_CODEGEN_LOOPS_ROUNDFLOATS_H

#include "mlir/IR/Builders.h"

namespace heddle {

/// `element`, or a vector of it as `like` is one.
mlir::Type typeLike(mlir::Type like, mlir::Type element);

/// x, an f32 or a vector of them, as that short float: RoundOp's formula, bit
/// for bit on every machine but for what is no number. Of bf16 in integers:
/// arith.truncf is a call of a library if there is no instruction, and keeps
/// denormals. All levels and GPUs have instructions for f16.
mlir::Value roundTo(mlir::Type element, mlir::OpBuilder &builder,
                    mlir::Location loc, mlir::Value x);

/// x, a short float or a vector of them, as f32. Not arith.extf if
/// comparisons or extrema of bf16 follow: LLVM makes those ones of bf16, which
/// are calls of a library if there is no instruction.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_LOOPS_ROUNDFLOATS_H
