//===- HuggingFaceFolder.cpp - The files of a model folder ----------------===//
//
// A folder with `config.json`, perhaps `generation_config.json`, and
// safetensors or pickles of torch, whose names are those of transformers'
// modules.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceFolder.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/SentenceTransformers.h"
#include "lib/Import/RandomParameters.h"
#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

std::string HuggingFaceFolder::pathOf(StringRef file) const {
  SmallString<128> result = StringRef(path);
  sys::path::append(result, file);
  return std::string(result);
}

Expected<ConfigReader> readConfig(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Object> object = parseJsonObject((*buffer)->getBuffer(), path);
  if (!object)
    return object.takeError();
  return ConfigReader(std::move(*object), path);
}

Expected<HuggingFaceFolder>
readHuggingFaceFolder(StringRef path, MLIRContext &context,
                      const ImportOptions &options) {
  SmallString<128> modules = path;
  sys::path::append(modules, "modules.json");
  std::string root = path.str(), inside;
  if (sys::fs::exists(modules)) {
    Expected<std::string> found = findTransformerFolder(path);
    if (!found)
      return found.takeError();
    inside = std::move(*found);
    path = inside;
  }
  SmallString<128> config = path, generation = path;
  sys::path::append(config, "config.json");
  sys::path::append(generation, "generation_config.json");
  Expected<ConfigReader> reader = readConfig(config);
  if (!reader)
    return reader.takeError();
  HuggingFaceFolder folder{std::move(root), path.str(), std::move(*reader),
                           std::nullopt,    options,    context};
  if (sys::fs::exists(generation)) {
    Expected<ConfigReader> read = readConfig(generation);
    if (!read)
      return read.takeError();
    folder.generation = std::move(*read);
  }
  return folder;
}

Error addWeights(const HuggingFaceFolder &folder, ImportedModel &model) {
  return folder.options.randomSeed
             ? Error::success()
             : model.weights.addHuggingFaceFolder(folder.path);
}

void setTokenizer(ImportedTokenizer tokenizer, ImportedModel &model) {
  model.tokenizer = std::move(tokenizer.manifest);
  model.sections = std::move(tokenizer.sections);
  model.tokenizerProblem =
      model.tokenizer.getString("reason").value_or("").str();
}

void sayWhatIsIgnored(HuggingFaceFolder &folder, ImportedModel &model) {
  for (ConfigReader *file :
       {&folder.config, folder.generation ? &*folder.generation : nullptr}) {
    if (!file)
      continue;
    append_range(model.warnings, file->getWarnings());
    append_range(model.remarks, describeFieldsWithoutEffect(*file));
  }
}

Error finishParameters(const HuggingFaceFolder &folder,
                       llvm::function_ref<bool(StringRef)> isUsual,
                       double deviation, ImportedModel &model) {
  model.unreadTensors =
      listUnreadTensors(*model.module, model.weights, isUsual);
  if (!folder.options.randomSeed)
    return Error::success();
  return drawParameters(*model.module, *folder.options.randomSeed, deviation,
                        model.weights);
}

Expected<ImportedModel> importHuggingFaceFolder(StringRef path,
                                                MLIRContext &context,
                                                const ImportOptions &options) {
  Expected<HuggingFaceFolder> folder =
      readHuggingFaceFolder(path, context, options);
  if (!folder)
    return folder.takeError();
  const Family &family = chooseFamily(folder->config);
  if (Error error = folder->config.takeError())
    return std::move(error);
  return family.import(*folder);
}

} // namespace heddle
