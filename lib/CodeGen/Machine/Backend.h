//===- Backend.h - What layer ops become code for ---------------*- C++ -*-===//
//
// A CPU of an ISA level, or a GPU of an architecture with a host that starts
// its kernels. Behind outline-kernels the two go ways of their own; what stands
// before, and the places of weights, is the same for both.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_BACKEND_H
#define HEDDLE_LIB_CODEGEN_MACHINE_BACKEND_H

#include "lib/CodeGen/Machine/GpuArchitecture.h"
#include "lib/CodeGen/Machine/Target.h"
#include <optional>

namespace heddle {

struct Backend {
  /// What entry points run on, and kernels if there is no GPU.
  IsaLevel host;
  std::optional<GpuArchitecture> gpu = std::nullopt;

  /// Of its code, in artifacts.
  llvm::StringRef name() const { return gpu ? gpu->name : host.name; }

  /// What getBackends finds it by.
  std::string option() const { return gpu ? gpu->option() : host.option(); }
};

/// The names that getBackends knows, with commas between.
std::string backendNames();

/// The backends of a `--target`, names with commas between: those of getTarget,
/// architectures of GPUs, and `cuda`, which is all of these. CPUs come first;
/// if none is named they are the portable ones. An error names what is
/// unknown, and what there is, or two that would have the same place.
llvm::Expected<llvm::SmallVector<Backend>> getBackends(llvm::StringRef targets,
                                                       const ShortTypes &types);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_BACKEND_H
