//===- RuntimeCalls.h - What generated code calls ---------------*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_RUNTIMECALLS_H
#define HEDDLE_TEST_EMULATOR_RUNTIMECALLS_H

#include "Context.h"

#include <string>

namespace heddle::emulator {

/// What an access does.
enum AccessFlags : uint32_t {
  kReads = 1,
  kWrites = 2,
  kIsAtomic = 4,
  /// Known to leave the variable that it started from.
  kIsBeyondVariable = 8,
  /// Above these bits stands the address space.
  kSpaceShift = 8,
};

/// NVPTX's address spaces.
enum AddressSpace : uint32_t {
  kGeneric = 0,
  kGlobal = 1,
  kShared = 3,
  kConstant = 4,
  kLocal = 5,
  kSharedCluster = 7,
};

/// The driver's codes for what ends a grid.
enum FailureCode {
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kLaunchFailed = 719,
};

/// Fails unless a thread may touch these bytes. A global access is remembered
/// in `range`, unless that is null.
void checkAccess(Context *context, uint64_t address, uint64_t size,
                 uint32_t alignment, uint32_t flags, KnownRange *range);

/// Ends the grid at a division that has no result.
void failAtDivision(Context *context);

/// Ends the grid: `sentence` follows "kernel 'k', block (0, 0, 0), thread
/// (0, 0, 0): ". Does not return, and destroys nothing of the caller.
[[noreturn]] void fail(Context &context, FailureCode code,
                       std::string sentence);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_RUNTIMECALLS_H
