//===- ImportHuggingFace.cpp - Encoder-decoders in Hugging Face's form ----===//
//
// A folder with `config.json`, perhaps `generation_config.json`, and
// safetensors or pickles of torch whose names are those of transformers'
// modules.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/HuggingFaceForm.h"
#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/RandomParameters.h"
#include "lib/Import/Tokenizers/Tokenizers.h"
#include "lib/Import/UnreadTensors.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// Reads a JSON file of the folder.
static Expected<ConfigReader> readConfig(StringRef path) {
  auto buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Object> object = parseJsonObject((*buffer)->getBuffer(), path);
  if (!object)
    return object.takeError();
  return ConfigReader(std::move(*object), path);
}

/// The tokenizer that the folder has, of the kinds that are supported.
static Expected<ImportedTokenizer>
readTokenizer(StringRef folder, const HuggingFaceConfig &config,
              std::optional<int64_t> eos) {
  if (!config.sourceCharacters.empty())
    return makeCharacterTokenizer(config.sourceCharacters,
                                  config.targetCharacters, config.bos, eos,
                                  config.vocabulary);
  return readFolderTokenizer(folder, config.architecture->tokenizerClass,
                             config.vocabulary);
}

/// Copies of tables that are one, and what transformers does not load either.
static bool isUsuallyUnread(StringRef tensor) {
  constexpr StringLiteral endings[] = {".position_ids", "shared.weight",
                                       "embed_tokens.weight", "encoder.version",
                                       "decoder.version"};
  return tensor == "lm_head.weight" || any_of(endings, [&](StringRef ending) {
           return tensor.ends_with(ending);
         });
}

/// In front of the names of all tensors but those of the output: "model.", or
/// nothing. A checkpoint of the class without a head, such as BartModel's, has
/// no name with the prefix.
static std::string prefixOf(const HuggingFaceArchitecture &architecture,
                            const LayerBuilder &layers) {
  std::string prefix = (architecture.prefix + ".").str();
  return !layers.hasTensors(prefix) && layers.hasTensors("encoder.") ? ""
                                                                     : prefix;
}

/// What the two files say in vain.
static void sayWhatIsIgnored(ConfigReader &config, ConfigReader *generation,
                             ImportedModel &model) {
  for (ConfigReader *file : {&config, generation}) {
    if (!file)
      continue;
    append_range(model.warnings, file->getWarnings());
    append_range(model.remarks, describeFieldsWithoutEffect(*file));
  }
}

Expected<ImportedModel> importHuggingFaceFolder(StringRef folder,
                                                MLIRContext &context,
                                                const ImportOptions &options) {
  SmallString<128> configPath = folder, generationPath = folder;
  sys::path::append(configPath, "config.json");
  sys::path::append(generationPath, "generation_config.json");
  Expected<ConfigReader> reader = readConfig(configPath);
  if (!reader)
    return reader.takeError();
  Expected<HuggingFaceConfig> config = readHuggingFaceConfig(*reader);
  if (!config)
    return config.takeError();
  std::optional<ConfigReader> generationReader;
  if (sys::fs::exists(generationPath)) {
    Expected<ConfigReader> read = readConfig(generationPath);
    if (!read)
      return read.takeError();
    generationReader = std::move(*read);
  }
  Expected<DictionaryAttr> generation =
      readGeneration(*reader, generationReader ? &*generationReader : nullptr,
                     *config, context);
  if (!generation)
    return generation.takeError();

  ImportedModel model;
  if (!options.randomSeed)
    if (Error error = model.weights.addHuggingFaceFolder(folder))
      return std::move(error);
  auto ends = cast<DenseI32ArrayAttr>(generation->get("eos"));
  std::optional<int64_t> eos;
  if (!ends.empty())
    eos = ends[0];
  Expected<ImportedTokenizer> tokenizer = readTokenizer(folder, *config, eos);
  if (!tokenizer)
    return tokenizer.takeError();
  model.tokenizer = std::move(tokenizer->manifest);
  model.sections = std::move(tokenizer->sections);
  model.tokenizerProblem =
      model.tokenizer.getString("reason").value_or("").str();

  model.module = createModule(folder, config->architecture->modelType, context);
  LayerBuilder layers(*model.module, model.weights,
                      options.randomSeed ? MissingTensors::Declare
                                         : MissingTensors::Fail);
  std::string prefix = prefixOf(*config->architecture, layers);
  auto find = [&](StringRef name) { return layers.find(name); };
  model.remarks = settleForm(*reader, *config,
                             options.randomSeed ? FindTensor() : find, prefix);
  sayWhatIsIgnored(*reader, generationReader ? &*generationReader : nullptr,
                   model);
  HuggingFaceModel functions(layers, *config, prefix);
  config->architecture->buildEncode(functions);
  functions.buildDecode();
  if (Error error = layers.takeError())
    return std::move(error);
  ModuleOp module = *model.module;
  // transformers' tables of positions end there, also those of formulas.
  setTasks(module, {config->vocabulary, config->decoderVocabulary,
                    config->encoder.maxPositions, *generation});
  model.unreadTensors =
      listUnreadTensors(module, model.weights, isUsuallyUnread);
  if (options.randomSeed)
    if (Error error = drawParameters(module, *options.randomSeed,
                                     config->deviation, model.weights))
      return std::move(error);
  return model;
}

} // namespace heddle
