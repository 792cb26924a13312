//===- DeviceBinary.h - From PTX to machine code of a GPU -------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_DEVICEBINARY_H
#define HEDDLE_LIB_CODEGEN_MACHINE_DEVICEBINARY_H

#include "lib/CodeGen/Machine/GpuArchitecture.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// Where NVIDIA's assembler is: a file, or a name to be found in PATH.
llvm::Expected<std::string> findAssembler(llvm::StringRef name);

/// A cubin, made of PTX by the program `assembler`. Fails if that fails or
/// writes something else.
llvm::Expected<std::string>
assembleDeviceCode(llvm::StringRef code, const GpuArchitecture &architecture,
                   llvm::StringRef assembler);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_DEVICEBINARY_H
