//===- HuggingFaceFolder.h - The files of a model folder --------*- C++ -*-===//
//
// What the import of every family begins and ends with.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFOLDER_H
#define HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFOLDER_H

#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/LayerBuilder.h"

namespace heddle {

/// A folder that is being imported. Borrows the context.
struct HuggingFaceFolder {
  /// What was asked for, and the folder of config.json and the weights: in one
  /// of sentence-transformers the latter may stand inside.
  std::string root, path;
  ConfigReader config;
  /// generation_config.json, if the folder has it.
  std::optional<ConfigReader> generation;
  const ImportOptions &options;
  mlir::MLIRContext &context;

  /// The path of a file of the folder.
  std::string pathOf(llvm::StringRef file) const;
  MissingTensors missingTensors() const {
    return options.randomSeed ? MissingTensors::Declare : MissingTensors::Fail;
  }
};

/// Reads a JSON file.
llvm::Expected<ConfigReader> readConfig(llvm::StringRef path);

/// Reads config.json and generation_config.json.
llvm::Expected<HuggingFaceFolder>
readHuggingFaceFolder(llvm::StringRef path, mlir::MLIRContext &context,
                      const ImportOptions &options);

/// Adds the folder's weights, unless random ones are asked for.
llvm::Error addWeights(const HuggingFaceFolder &folder, ImportedModel &model);

/// Puts a tokenizer into a model.
void setTokenizer(ImportedTokenizer tokenizer, ImportedModel &model);

/// Adds what the configurations say in vain.
void sayWhatIsIgnored(HuggingFaceFolder &folder, ImportedModel &model);

/// Lists the tensors that the written module leaves in its files, but for usual
/// ones, and draws random parameters, of this deviation, if they are asked for.
llvm::Error finishParameters(const HuggingFaceFolder &folder,
                             llvm::function_ref<bool(llvm::StringRef)> isUsual,
                             double deviation, ImportedModel &model);

} // namespace heddle

#endif // HEDDLE_LIB_IMPORT_HUGGINGFACE_HUGGINGFACEFOLDER_H
