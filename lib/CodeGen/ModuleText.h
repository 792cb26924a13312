//===- ModuleText.h - A module as people read it ----------------*- C++ -*-===//

#ifndef HEDDLE_LIB_CODEGEN_MODULETEXT_H
#define HEDDLE_LIB_CODEGEN_MODULETEXT_H

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace heddle {

/// A module's text, in which values are named after the checkpoint's tensors
/// if an op carries such a location: tensors, buffers and masks, but not
/// the scalars of a loop. Weights are symbols and have no bytes.
struct ModuleText {
  explicit ModuleText(mlir::Operation *op);

  /// What was printed: a copy whose scalars have no location.
  mlir::OwningOpRef<mlir::Operation *> module;
  std::string text;
  /// Where each op of `module` begins, in lines from 0.
  llvm::DenseMap<mlir::Operation *, unsigned> lines;
};

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_MODULETEXT_H
