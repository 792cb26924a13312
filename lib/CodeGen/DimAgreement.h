//===- DimAgreement.h - Whether dimensions that meet have one name -*- C++ -*-//

#ifndef HEDDLE_LIB_CODEGEN_DIMAGREEMENT_H
#define HEDDLE_LIB_CODEGEN_DIMAGREEMENT_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// The runtime gives each named dimension a size of its own; an op that takes
/// two of them for one would read outside of a buffer. Emits an error if the
/// dimensions that a layer op expects to be equal have different names
/// (`transformer.dims`). Looks at the module as it was imported.
llvm::LogicalResult checkDimAgreement(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_CODEGEN_DIMAGREEMENT_H
