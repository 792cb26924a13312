//===- CallPointers.h - The call, where kernels need it ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_CALLPOINTERS_H
#define HEDDLE_LIB_CODEGEN_CALLPOINTERS_H

#include "lib/CodeGen/CallLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Whether `op` stands in an entry point or a kernel; says at the op that it
/// does not.
mlir::LogicalResult checkHasCall(mlir::Operation *op);

/// Gives each kernel with one of these loops or other ops, and whatever calls
/// one, the pointer to the `HeddleCall` as its last argument, if it has none. A
/// call of such a kernel that stands in one of the loops is an error.
mlir::LogicalResult passCallPointers(mlir::ModuleOp module,
                                     llvm::ArrayRef<mlir::Operation *> users);

/// Loads a field of the call of a function that has the pointer to it.
mlir::Value loadCallField(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::func::FuncOp function, CallField field,
                          mlir::Type type);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_CALLPOINTERS_H
