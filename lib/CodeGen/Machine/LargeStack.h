//===- LargeStack.h - Room for recursion ------------------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_LARGESTACK_H
#define HEDDLE_LIB_CODEGEN_MACHINE_LARGESTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// Calls `body` on `threads` threads at the same time and returns when all of
/// them have. Each has a stack of 1 GB, of which only what is touched takes
/// memory: MLIR and LLVM recurse over what their input nests and chains.
/// Threads that there is no address space for are left out; if there is none
/// for a single one, the caller's stack has to do.
void runOnLargeStacks(unsigned threads, llvm::function_ref<void()> body);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_LARGESTACK_H
