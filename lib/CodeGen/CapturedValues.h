//===- CapturedValues.h - What a loop's body reads from outside -*- C++ -*-===//
//
// A body that moves into a function of its own finds what it captured in a
// structure, in the forms that values have in LLVM. Constants are repeated
// instead, so that the body is optimised as if it had stayed where it was.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_CAPTUREDVALUES_H
#define HEDDLE_LIB_CODEGEN_CAPTUREDVALUES_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

namespace heddle {

class CapturedValues {
public:
  /// What `body` reads from outside of it. Memory that was taken there by
  /// `memref.alloca` is taken anew if the body `keepsMemory` for itself. A
  /// value that has no form in LLVM is an error, at the op around the body.
  static mlir::FailureOr<CapturedValues>
  of(mlir::Region &body, const mlir::LLVMTypeConverter &types,
     bool keepsMemory = false);

  mlir::LLVM::LLVMStructType getType() const { return type; }
  /// Stores them, where the builder stands, in memory of `function`; returns
  /// its address.
  mlir::Value store(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::func::FuncOp function) const;
  /// Loads them where the builder stands, for `body` to read, which need not
  /// stand there yet.
  void load(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value structure,
            mlir::Region &body) const;

private:
  mlir::Value fieldOf(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value structure, size_t index) const;

  /// Each one's type is that of its field in LLVM.
  llvm::SetVector<mlir::Value> captured;
  llvm::SmallVector<mlir::Operation *> repeated;
  mlir::LLVM::LLVMStructType type;
};

/// A value in another of its forms; reconciled once all ops are in LLVM.
mlir::Value castToForm(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type, mlir::Value value);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_CAPTUREDVALUES_H
