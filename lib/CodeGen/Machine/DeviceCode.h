//===- DeviceCode.h - From the LLVM dialect to PTX --------------*- C++ -*-===//
//
// The last steps of a kernel's compilation, in this process: LLVM IR, optimised
// for an architecture, then the text that a driver assembles.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_DEVICECODE_H
#define HEDDLE_LIB_CODEGEN_MACHINE_DEVICECODE_H

#include "lib/CodeGen/Machine/GpuArchitecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace heddle {

/// What a driver takes, PTX or bitcode for the emulator, or LLVM IR as text, as
/// it is when it has been optimised.
enum class DeviceForm { Code, IR };

/// The code of a module in the LLVM dialect, which is consumed.
llvm::Expected<std::string> emitDeviceCode(mlir::ModuleOp module,
                                           const GpuArchitecture &architecture,
                                           DeviceForm form = DeviceForm::Code);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_DEVICECODE_H
