//===- CodeUnits.h - Parts of a module that compile alone -------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MACHINE_CODEUNITS_H
#define HEDDLE_LIB_CODEGEN_MACHINE_CODEUNITS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <vector>

namespace heddle {

/// Copies the code of a module into units that compile apart from each other:
/// one for each kernel, in their order, behind one for all functions that the
/// runtime calls. A unit has what it reaches, tasks, work functions and
/// constants, and declares the kernels that it calls. What does not run, the
/// parameters, is in none.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>>
splitIntoUnits(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MACHINE_CODEUNITS_H
