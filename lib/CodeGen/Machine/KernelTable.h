//===- KernelTable.h - The kernels of a GPU in an artifact ------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_KERNELTABLE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_KERNELTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace heddle {

/// A kernel's code and what a launch has to know of it.
struct CompiledKernel {
  std::string name;
  int64_t threads, sharedBytes;
  /// Blocks of a cluster if blocks stay (BlockShape), otherwise 0.
  int64_t stayingCluster;
  /// What the driver loads.
  std::string image;
  /// A cubin, or nothing.
  std::string binary;
  /// See LaunchShape.
  bool isGeneric;
};

/// The section `kernels.<gpu>` of these kernels, in the order of their numbers;
/// see ArtifactFormat.h.
std::string writeKernelTable(llvm::ArrayRef<CompiledKernel> kernels);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_KERNELTABLE_H
