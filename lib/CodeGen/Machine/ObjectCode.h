//===- ObjectCode.h - From the LLVM dialect to a shared object --*- C++ -*-===//
//
// The last steps of compilation: LLVM IR, optimised for an ISA level, then
// machine code, then the shared object that an artifact carries.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_OBJECTCODE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_OBJECTCODE_H

#include "lib/CodeGen/Machine/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace heddle {

/// Translates a module in the LLVM dialect, which is consumed, and simplifies
/// it for an ISA level. Ops that describe the model (parameters) have no code
/// and are left out. Functions that the runtime does not call are seen by what
/// is linked with it at most.
llvm::Expected<std::unique_ptr<llvm::Module>>
buildLLVMModule(mlir::ModuleOp module, llvm::LLVMContext &context,
                const IsaLevel &isa);

using ObjectBytes = llvm::SmallVector<char, 0>;

enum class ObjectForm { Assembly, Object };

/// Machine code for a module of `buildLLVMModule`, which is consumed.
llvm::Expected<ObjectBytes> emitObjectCode(llvm::Module &module,
                                           ObjectForm form);

/// Links objects into a shared object without dependencies: what they do not
/// define (libm, memcpy) the process that loads it does. One thread at a time:
/// lld has global state.
llvm::Expected<ObjectBytes>
linkSharedObject(llvm::ArrayRef<ObjectBytes> objects);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_OBJECTCODE_H
