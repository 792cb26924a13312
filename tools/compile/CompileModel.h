//===- CompileModel.h - From a model to what is written ---------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_COMPILE_COMPILEMODEL_H
#define HEDDLE_TOOLS_COMPILE_COMPILEMODEL_H

#include "lib/Artifact/PlacedTensors.h"
#include "lib/Explorer/Exploration.h"
#include "lib/Fusion/FusionReport.h"
#include "lib/Import/ImportModel.h"
#include "tools/compile/CompileOptions.h"

namespace heddle {

/// Writes the text of an imported model's module, with what the options ask of
/// its mathematics.
llvm::Error writeMathematics(const CompileOptions &options,
                             const ImportedModel &model);

/// Whether an artifact of these options has code for GPUs, or for CPUs.
bool hasCode(const CompileOptions &options, bool onGpu);

/// Runs the passes on `module`, that of an imported model or a copy of it,
/// without the fusions that are left out, and writes what the options ask for:
/// an artifact or the text of its code, and the module after each pass.
/// `exploration` watches the best level, if it is not null. Returns what
/// `--explain` says of the kernels of GPUs, if an artifact has some.
llvm::Expected<std::string> compileModel(const CompileOptions &options,
                                         llvm::ArrayRef<FusionTotal> fusions,
                                         mlir::ModuleOp module,
                                         const ImportedModel &model,
                                         Exploration *exploration = nullptr);

/// Runs the same passes as far as parameters have their places, which an
/// artifact of these options would have. Valid as long as the model's weights.
llvm::Expected<std::vector<PlacedTensor>>
placeTensors(const CompileOptions &options, llvm::ArrayRef<FusionTotal> fusions,
             mlir::ModuleOp module, const ImportedModel &model);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILE_COMPILEMODEL_H
