//===- LargeStack.h - Room for recursion ------------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_LARGESTACK_H
#define HEDDLE_TOOLS_LARGESTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// Calls `body` on a stack of 1 GB, of which only what is touched takes memory:
/// MLIR and LLVM recurse over what their input nests and chains. Where there is
/// no address space for it, on the caller's.
void runOnLargeStack(llvm::function_ref<void()> body);

} // namespace heddle

#endif // HEDDLE_TOOLS_LARGESTACK_H
