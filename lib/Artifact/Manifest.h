//===- Manifest.h - What an artifact says of itself -------------*- C++ -*-===//
//
// Turns the attributes of a compiled module into the JSON that
// runtime/artifact/ArtifactFormat.h describes. The attributes of a module are
// written by importers and by people: whatever the runtime would refuse is
// refused here.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ARTIFACT_MANIFEST_H
#define HEDDLE_LIB_ARTIFACT_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace heddle {

/// What the manifest says beside the module.
struct ManifestContext {
  std::string compilerVersion;
  std::vector<std::string> isas, gpus;
  llvm::json::Object options;
  llvm::json::Object tokenizer;
  /// Shared libraries that the code calls.
  std::vector<std::string> libraries;
};

/// Checks the attributes of a module that say what it reads and does: family,
/// source and tasks. Cheap, so that a compiler fails before its
/// passes.
llvm::Error checkModelAttributes(mlir::ModuleOp module);

/// The manifest of a compiled module: entries are its functions that have
/// kEntryAttr, in order. The text is the same for the same input.
llvm::Expected<std::string> buildManifest(mlir::ModuleOp module,
                                          ManifestContext context);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_MANIFEST_H
