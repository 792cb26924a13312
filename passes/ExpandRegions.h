//===- ExpandRegions.h - Regions of attention as total functions *- C++ -*-===//

#ifndef HEDDLE_PASSES_EXPANDREGIONS_H
#define HEDDLE_PASSES_EXPANDREGIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// What the pass of this name does to `module`.
void expandRegions(mlir::ModuleOp module);

} // namespace heddle

#endif // HEDDLE_PASSES_EXPANDREGIONS_H
