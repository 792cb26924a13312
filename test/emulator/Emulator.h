//===- Emulator.h - Kernels for NVIDIA GPUs, run on the CPU -----*- C++ -*-===//
//
// A Program is an LLVM module for nvptx64, after optimisation, as code of this
// machine; a Machine runs grids of its kernels, block after block. Threads of a
// block are fibers where a kernel can wait, and plain calls where it cannot.
//
// What is checked ends a grid with one sentence: see README.md.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_EMULATOR_H
#define HEDDLE_TEST_EMULATOR_EMULATOR_H

#include "test/emulator/host/HostCode.h"
#include "test/emulator/memory/MemoryMap.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llvm::orc {
class LLJIT;
class MaterializationUnit;
} // namespace llvm::orc

namespace heddle::emulator {

class CompiledObjects;

/// What HEDDLE_EMULATOR_CHECKS says: `all`, which is the default, or `none`.
bool checksAreOn();

/// A kernel as code. Belongs to its Program.
struct Kernel {
  KernelInfo info;
  void (*entry)(Context *context, const void *const *parameters) = nullptr;
  /// Of the program's code.
  size_t numAccesses = 0;
  /// The program's variables.
  const MemoryMap *variables = nullptr;
};

/// A module. Safe to use by one thread at a time.
class Program {
public:
  ~Program();

  /// Reads bitcode, or LLVM's text, and asks whether all that it calls is
  /// known; null with a sentence in `problem` otherwise.
  static std::unique_ptr<Program> load(std::string_view image,
                                       std::string &problem);

  /// Whether a call is missing: OmittedCall.h.
  bool lacksCall() const { return omitsCall; }

  /// A kernel by name; null where there is none, or with a sentence in
  /// `problem` if the module cannot be compiled, which happens at the first
  /// call.
  const Kernel *kernel(const std::string &name, std::string &problem);

  /// A variable in global or constant memory; of size zero where there is none.
  MemoryRange variable(const std::string &name, std::string &problem);

private:
  struct Source;
  Program() = default;
  bool compile(std::string &problem);
  std::unique_ptr<llvm::orc::MaterializationUnit> operationSymbols() const;

  std::unique_ptr<Source> source;
  bool omitsCall = false;
  HostCode code;
  /// Outlives the compiler that has it.
  std::unique_ptr<CompiledObjects> objects;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, Kernel> kernels;
  std::map<std::string, MemoryRange> variables;
  MemoryMap variableMap;
};

struct Launch {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  /// An address for each parameter, as cuLaunchKernel takes them.
  std::vector<const void *> parameters;
};

/// Why a grid ended: the driver's code and one sentence.
struct Failure {
  int code = 0;
  std::string sentence;
};

class Worker;

/// Runs grids, one at a time.
class Machine {
public:
  /// With as many threads of the host as HEDDLE_EMULATOR_THREADS says, or one.
  Machine();
  ~Machine();

  /// Runs all blocks; global memory is what `memory` and the kernel's program
  /// hold.
  std::optional<Failure> run(const Kernel &kernel, const Launch &launch,
                             const MemoryMap &memory);

private:
  std::vector<std::unique_ptr<Worker>> workers;
};

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_EMULATOR_H
