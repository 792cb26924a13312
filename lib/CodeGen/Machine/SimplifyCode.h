//===- SimplifyCode.h - What emitters leave to LLVM -------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_SIMPLIFYCODE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_SIMPLIFYCODE_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace heddle {

/// Simplifies the functions of a module, each on its own; changes no bit of
/// what they compute.
void simplifyCode(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_SIMPLIFYCODE_H
