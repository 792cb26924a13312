//===- Passes.h - Heddle's passes -------------------------------*- C++ -*-===//
//
// One class a pass; Passes.td specifies them, in pipeline order, and each lives
// in the file of its name.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_PASSES_H
#define HEDDLE_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace heddle {
#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace heddle

#endif // HEDDLE_PASSES_PASSES_H
