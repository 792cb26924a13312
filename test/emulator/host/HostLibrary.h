//===- HostLibrary.h - Functions that generated code may call ---*- C++ -*-===//

#ifndef HEDDLE_TEST_EMULATOR_HOST_HOSTLIBRARY_H
#define HEDDLE_TEST_EMULATOR_HOST_HOSTLIBRARY_H

#include <memory>

namespace llvm::orc {
class LLJIT;
class MaterializationUnit;
} // namespace llvm::orc

namespace heddle::emulator {

/// libm, memcpy and the conversions of half-width numbers, by name. What is not
/// here is an error when a module is compiled.
std::unique_ptr<llvm::orc::MaterializationUnit>
hostLibrary(const llvm::orc::LLJIT &jit);

} // namespace heddle::emulator

#endif // HEDDLE_TEST_EMULATOR_HOST_HOSTLIBRARY_H
