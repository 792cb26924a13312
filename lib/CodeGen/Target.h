//===- Target.h - ISA levels that code is generated for ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_TARGET_H
#define HEDDLE_LIB_CODEGEN_TARGET_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace heddle {

/// An ISA level: the name in manifests and options, which is LLVM's CPU too,
/// and what emitters ask about it.
struct IsaLevel {
  llvm::StringRef name;
  /// f32 lanes of the widest vector.
  int64_t lanes;
  /// Vector registers that accumulators, operands and scratch share.
  int64_t registers;
};

/// The level of that name; an error lists the supported ones.
llvm::Expected<IsaLevel> getIsaLevel(llvm::StringRef name);

/// The levels of a `--target`: `native` is the best one that this machine has,
/// `portable` all of them, lowest first, anything else one level.
llvm::Expected<llvm::SmallVector<IsaLevel>> getTarget(llvm::StringRef target);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_TARGET_H
