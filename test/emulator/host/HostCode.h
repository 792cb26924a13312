//===- HostCode.h - From NVPTX IR to IR of this machine ---------*- C++ -*-===//
//
// A pass over an LLVM module for nvptx64, as it is after optimisation:
//   - every function gets a Context as its first parameter;
//   - shared variables become addresses in the block's shared memory;
//   - special registers are read from the Context, scalar arithmetic becomes
//     LLVM's own, other intrinsics and inline assembly call an Operation;
//   - every access to memory is checked;
//   - each kernel gets an entry, `NAME.entry(Context *, const void **)`, that
//     loads the parameters.
// Address spaces stay: x86 takes those below 256 for one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_EMULATOR_HOST_HOSTCODE_H
#define HEDDLE_TEST_EMULATOR_HOST_HOSTCODE_H

#include "test/emulator/Operation.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace llvm {
class CallInst;
class DataLayout;
class Function;
class GlobalVariable;
class IRBuilderBase;
class Module;
class StringRef;
class Value;
} // namespace llvm

namespace heddle::emulator {

/// A kernel's parameter: cuLaunchKernel's pointers lead to `size` bytes, which
/// stand at `offset` of a packed buffer.
struct Parameter {
  size_t size = 0;
  size_t offset = 0;
};

/// A kernel as a launch has to know it.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  /// Whether a thread may have to wait for another one: then each is a fiber.
  bool waits = false;
  /// Shared memory that the module itself declares, and dynamic memory behind
  /// it.
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedOffset = 0;
  /// The alignment of shared memory that the module asks for.
  uint32_t sharedAlignment = 16;
  /// Bytes of a thread's own memory in the frames of all it calls.
  uint64_t localBytes = 0;
  /// nvvm.maxntid, or 1024.
  uint32_t maxThreads = 1024;
  /// nvvm.cluster_dim along x, or 1.
  uint32_t clusterSize = 1;
};

struct HostCodeOptions {
  /// Whether accesses to memory are checked.
  bool checksAccesses = true;
};

/// What the pass leaves beside the code.
struct HostCode {
  std::map<std::string, KernelInfo> kernels;
  /// Called by the code, which has symbols for them: see `operationName`.
  std::vector<std::unique_ptr<Operation>> operations;
  /// How many KnownRanges the code uses.
  size_t numAccesses = 0;
};

/// The kernels of a module as it came, and whether all that they call is known;
/// `problem` names what is not.
bool describeKernels(llvm::Module &module, HostCode &code,
                     std::string &problem);

/// Rewrites the module for the host's layout of data.
void makeHostCode(llvm::Module &module, const llvm::DataLayout &layout,
                  const HostCodeOptions &options, HostCode &code);

/// The symbols of an operation in the code, and of its handler.
std::string operationName(size_t number);
std::string handlerName(size_t number);
/// The symbols of checkAccess and failAtDivision.
inline constexpr char kCheckAccess[] = "heddle.checkAccess",
                      kFailAtDivision[] = "heddle.failAtDivision";

// The steps of it.

/// The name of an NVPTX intrinsic behind `llvm.nvvm.`; empty if it is none.
llvm::StringRef nvptxName(const llvm::CallInst &call);
bool isKernel(const llvm::Function &function);
/// A call that ends the grid.
bool isTrap(const llvm::CallInst &call);
/// A register that is read from the Context.
bool isSpecialRegister(llvm::StringRef name);
/// The operation of any other intrinsic or assembly; null with a sentence.
std::unique_ptr<Operation> makeOperation(const llvm::CallInst &call,
                                         std::string &problem);

/// Gives shared variables their places.
void placeSharedVariables(llvm::Module &module, HostCode &code);
/// Moves accesses of a function to where shared memory is in this process.
void translateSharedAddresses(llvm::Function &function);

/// Replaces a call of an intrinsic that is arithmetic, or that does nothing
/// here, by instructions. False if it is not such a one.
bool expandScalarIntrinsic(llvm::CallInst &call);
/// The same question without an answer in code.
bool isScalarIntrinsic(llvm::StringRef name);

/// Gives arithmetic of a function what it has on a GPU: a conversion to
/// integers saturates, a division by zero is told and does not end the process.
void replaceArithmetic(llvm::Function &function);

/// Puts a check before every access to memory of a function whose first
/// parameter is the Context.
void checkAccesses(llvm::Function &function, size_t &numAccesses);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_HOST_HOSTCODE_H
