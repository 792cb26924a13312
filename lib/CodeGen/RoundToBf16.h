//===- RoundToBf16.h - f32 to bf16 and back in integers ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_ROUNDTOBF16_H
#define HEDDLE_LIB_CODEGEN_ROUNDTOBF16_H

#include "mlir/IR/Builders.h"

namespace heddle {

/// x, an f32 or a vector of them, as bf16: RoundOp's formula, bit for bit on
/// every machine. Not arith.truncf, which LLVM makes a call of a library where
/// there is no instruction, and which keeps denormals.
mlir::Value roundToBf16(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x);

/// x, a bf16 or a vector of them, as f32. Not arith.extf where comparisons or
/// extrema follow: LLVM makes those ones of bf16, which are calls of a library
/// where there is no instruction.
mlir::Value widenBf16(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value x);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_ROUNDTOBF16_H
