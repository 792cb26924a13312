//===- RandomParameters.h - Random weights for a module ---------*- C++ -*-===//

#ifndef HEDDLE_LIB_IMPORT_RANDOMPARAMETERS_H
#define HEDDLE_LIB_IMPORT_RANDOMPARAMETERS_H

#include "lib/Weights/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Gives each parameter without a source the tensor of its name in a file of
/// random numbers (see lib/Weights/RandomWeights.h), which is added to
/// `weights`. As transformers initialises: matrices are normal with the
/// standard deviation `deviation`, except that a table of embeddings has zeros
/// for the id "pad" of the module's generation settings; scales of norms are 1,
/// other vectors 0.
llvm::Error drawParameters(mlir::ModuleOp module, uint64_t seed,
                           double deviation, WeightSource &weights);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_RANDOMPARAMETERS_H
