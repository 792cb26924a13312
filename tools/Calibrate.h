//===- Calibrate.h - What fewer bits cost, layer by layer -------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_CALIBRATE_H
#define HEDDLE_TOOLS_CALIBRATE_H

#include "mlir/IR/BuiltinOps.h"
#include "tools/CompileOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace heddle {

/// Patterns over the names of weights, in their order: one for each layer whose
/// products or tables `--dtype` decides about, as --keep takes them. The module
/// is as imported.
std::vector<std::string> listLayers(mlir::ModuleOp module);

/// Measures on the lines of `options.calibrate` how far logits are from those
/// in f32, with all layers in the types of `options` and with one layer at a
/// time, and returns a table for people. Targets are what the model says in
/// f32. `compile` writes the artifact of options; those that are measured stand
/// beside the output for a while. The same file and model give the same table,
/// whatever the threads.
llvm::Expected<std::string>
calibrate(const CompileOptions &options, llvm::ArrayRef<std::string> layers,
          llvm::function_ref<llvm::Error(const CompileOptions &)> compile);

} // namespace heddle

#endif // HEDDLE_TOOLS_CALIBRATE_H
