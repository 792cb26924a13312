//===- CandidateKernel.h - Kernels of candidate_logits ----------*- C++ -*-===//

#ifndef HEDDLE_LIB_KERNELS_CANDIDATEKERNEL_H
#define HEDDLE_LIB_KERNELS_CANDIDATEKERNEL_H

#include "lib/CodeGen/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include <string>

namespace heddle {

/// "candidates_256", for activations of that width.
std::string nameOfCandidateKernel(int64_t width);

/// Builds, at the builder's insertion point, the kernel of the step form of
/// candidate_logits
///
///   (x : memref<?x width>, rows : memref<?x?x width>, bias : memref<?x?>,
///    counts, sentences : memref<?xi32>, y : memref<?x?>)
///
/// dense, f32 but for the ids. A logit is a sum over lanes, each ascending,
/// that are added in one fixed order: its bits depend on its own row and
/// candidate.
mlir::func::FuncOp buildCandidateKernel(mlir::OpBuilder &builder,
                                        mlir::Location loc, int64_t width,
                                        const IsaLevel &isa);

} // namespace heddle

#endif // HEDDLE_LIB_KERNELS_CANDIDATEKERNEL_H
