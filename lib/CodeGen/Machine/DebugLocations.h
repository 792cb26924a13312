//===- DebugLocations.h - Names of layers in machine code -------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_DEBUGLOCATIONS_H
#define HEDDLE_LIB_CODEGEN_MACHINE_DEBUGLOCATIONS_H

#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace heddle {

/// The checkpoint's names behind each line that debug locations name.
using NamesOfLines = std::map<unsigned, std::vector<std::string>>;

/// Gives a module in the LLVM dialect what becomes `!dbg`: each function is one
/// of DWARF's, and what a layer does in it reads as a function with the
/// checkpoint's names that was inlined there, so that `perf` and debuggers name
/// the layer that calls a kernel. A kernel whose callers all are one layer has
/// its name inside, too; others serve several.
///
/// Lines are those of a module that people wrote. If there are none,
/// `source` stands for the model, and a line is the number of a layer, in the
/// order of first appearance.
NamesOfLines addDebugLocations(mlir::ModuleOp module, llvm::StringRef source);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_DEBUGLOCATIONS_H
