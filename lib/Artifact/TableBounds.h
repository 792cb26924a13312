//===- TableBounds.h - Whether ids and positions stay in tables -*- C++ -*-===//

#ifndef HEDDLE_LIB_ARTIFACT_TABLEBOUNDS_H
#define HEDDLE_LIB_ARTIFACT_TABLEBOUNDS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace heddle {

/// The runtime keeps ids below the vocabulary, and lengths of source and target
/// up to `positions` of the source and `max_target` of the task `generate`, as
/// the module's attributes say; compiled code trusts it. An error if a table
/// that the module reads with such ids or along such a dimension is smaller,
/// and if it is read by anything else. Looks at the module as it was imported.
llvm::Error checkTableBounds(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_ARTIFACT_TABLEBOUNDS_H
