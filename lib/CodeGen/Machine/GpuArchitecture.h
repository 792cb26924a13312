//===- GpuArchitecture.h - GPUs that code is generated for ------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_GPUARCHITECTURE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_GPUARCHITECTURE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace heddle {

/// An architecture of NVIDIA's GPUs, as PTX names it.
struct GpuArchitecture {
  llvm::StringRef name;
  /// The version of PTX that its code is written in, as LLVM's feature: the
  /// oldest that has what emitters use, since drivers read no newer than
  /// themselves.
  llvm::StringRef ptxVersion;
  /// Whether warpgroups multiply (wgmma) and bulk copies fill shared memory.
  bool hasWarpgroups;
  /// Of its largest GPU: for fewer tiles than a part of them these are smaller.
  int64_t multiprocessors;
  /// Whether tensor cores multiply f32 as tf32, which has 10 bits behind the
  /// point, once, in place of products with (nearly) all bits.
  bool multipliesTf32 = false;
  /// Whether code is LLVM's bitcode, which an emulator runs in tests.
  bool isEmulated = false;

  /// What `getGpuArchitecture` finds it by.
  std::string option() const;
};

/// All of them, lowest first: what a machine has no code of its own for runs
/// that of the ones before, but for names that end in "a".
llvm::ArrayRef<GpuArchitecture> getGpuArchitectures();

/// The architecture of that name. Behind a name `+tf32` may stand, and then,
/// for tests, `+emulated`.
std::optional<GpuArchitecture> getGpuArchitecture(llvm::StringRef name);

/// The best architecture whose code GPUs run that have the one named, "sm_86";
/// none if that is no architecture's name, or of one that is too old.
std::optional<GpuArchitecture> getArchitectureFor(llvm::StringRef name);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_GPUARCHITECTURE_H
