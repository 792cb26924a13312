//===- ObjectCode.h - From the LLVM dialect to a shared object --*- C++ -*-===//
//
// The last steps of compilation: LLVM IR, optimised for an ISA level, then
// machine code, then the shared object that an artifact carries.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_OBJECTCODE_H
#define HEDDLE_LIB_CODEGEN_OBJECTCODE_H

#include "lib/CodeGen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace heddle {

/// Translates a module in the LLVM dialect and simplifies it for an ISA level.
/// Ops that describe the model (parameters) have no code and are left out.
llvm::Expected<std::unique_ptr<llvm::Module>>
buildLLVMModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                const IsaLevel &isa);

enum class ObjectForm { Assembly, Object };

/// Machine code for a module of `buildLLVMModule`, which is consumed.
llvm::Expected<llvm::SmallVector<char, 0>> emitObjectCode(llvm::Module &module,
                                                          ObjectForm form);

/// Links one object into a shared object without dependencies: what it does not
/// define (libm, memcpy) the process that loads it does.
llvm::Expected<llvm::SmallVector<char, 0>>
linkSharedObject(llvm::ArrayRef<char> object);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_OBJECTCODE_H
