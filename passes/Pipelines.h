//===- Pipelines.h - The order of passes ------------------------*- C++ -*-===//
//
// The only place where order lives. A pipeline ends where its name says; the
// tools run them one after the other, tests run them by name in heddle-opt.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_PASSES_PIPELINES_H
#define HEDDLE_PASSES_PIPELINES_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace heddle {

/// From the mathematics of a model, on tensors, to entry points made of plain
/// loops over memrefs. Parameters keep their place in the artifact.
void buildReferencePipeline(mlir::OpPassManager &manager);

/// From entry points to the LLVM dialect.
void buildLLVMPipeline(mlir::OpPassManager &manager);

/// `heddle-reference` and `heddle-llvm`.
void registerPipelines();

} // namespace heddle

#endif // HEDDLE_PASSES_PIPELINES_H
