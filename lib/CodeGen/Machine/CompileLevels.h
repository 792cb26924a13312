//===- CompileLevels.h - Machine code for several backends ------*- C++ -*-===//
//
// From layer ops on planned memory to shared objects and kernels of GPUs. Once
// the kernels of a level (an ISA level or a GPU's architecture) are built, its
// module is split into units that compile alone. Threads share the units of all
// levels.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_COMPILELEVELS_H
#define HEDDLE_LIB_CODEGEN_MACHINE_COMPILELEVELS_H

#include "lib/CodeGen/Machine/Backend.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace heddle {

/// What levels go through, on several threads at the same time.
struct LevelSteps {
  /// Adds the passes from the module of all levels to entry points and kernels.
  std::function<void(mlir::OpPassManager &, const Backend &)> buildCode;
  /// Adds the passes from there to the LLVM dialect, of what runs on the host
  /// and of kernels of a GPU.
  std::function<void(mlir::OpPassManager &)> buildLLVM, buildDeviceLLVM;
  /// What makes cubins of kernels of a GPU, see DeviceBinary.h; empty if
  /// nothing does.
  std::string assembler;
  /// Says what a module of entry points offers: the text of a manifest.
  std::function<llvm::Expected<std::string>(mlir::ModuleOp)> describe;
  /// Learns how many units are compiled of those that are known so far: those
  /// of levels whose kernels are not built yet come later. One call at a time.
  std::function<void(size_t compiled, size_t known)> report;
};

struct CompiledLevel {
  /// What `describe` says.
  std::string manifest;
  /// A shared object.
  std::string code;
  /// The section of a GPU's kernels; empty without a GPU.
  std::string kernels;
  /// How many they are, and the names of those that no emitter wrote.
  size_t numKernels;
  std::vector<std::string> genericKernels;
};

/// Compiles `module` for each level, on at most `jobs` threads. Neither the
/// bytes nor the error depends on their number: of several errors it is that of
/// the first level, and there of the first unit.
llvm::Expected<std::vector<CompiledLevel>>
compileLevels(mlir::ModuleOp module, llvm::ArrayRef<Backend> levels,
              const LevelSteps &steps, unsigned jobs);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_COMPILELEVELS_H
