//===- CompileModel.h - From a model to what is written ---------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_COMPILEMODEL_H
#define HEDDLE_TOOLS_COMPILEMODEL_H

#include "lib/Explorer/Exploration.h"
#include "lib/Fusion/FusionReport.h"
#include "lib/Import/ImportModel.h"
#include "tools/CompileOptions.h"

namespace heddle {

/// Writes the text of an imported model's module, with what the options ask of
/// its mathematics.
llvm::Error writeMathematics(const CompileOptions &options,
                             const ImportedModel &model);

/// Runs the passes on an imported model, without the fusions that are left out,
/// and writes what the options ask for: an artifact or the text of its code,
/// and the module after each pass. `exploration` watches the best level, where
/// it is not null. Takes the model's tokenizer. Returns what `--explain` says
/// of the kernels of GPUs, where an artifact has some.
llvm::Expected<std::string> compileModel(const CompileOptions &options,
                                         llvm::ArrayRef<FusionTotal> fusions,
                                         ImportedModel &model,
                                         Exploration *exploration);

} // namespace heddle

#endif // HEDDLE_TOOLS_COMPILEMODEL_H
