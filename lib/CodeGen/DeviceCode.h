//===- DeviceCode.h - From the LLVM dialect to PTX --------------*- C++ -*-===//
//
// The last steps of a kernel's compilation, in this process: LLVM IR, optimised
// for an architecture, then the text that a driver assembles.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_DEVICECODE_H
#define HEDDLE_LIB_CODEGEN_DEVICECODE_H

#include "lib/CodeGen/GpuArchitecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// PTX, or bitcode for the emulator, of a module in the LLVM dialect, which is
/// consumed.
llvm::Expected<std::string> emitDeviceCode(mlir::ModuleOp module,
                                           const GpuArchitecture &architecture);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_DEVICECODE_H
