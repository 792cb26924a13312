//===- EncoderDecoder.cpp - BART and its descendants ----------------------===//
//
// One import serves them all: what differs is in their descriptions
// (HuggingFaceArchitecture.h).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderDecoder.h"
#include "lib/Import/HuggingFace/HuggingFaceForm.h"
#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"

using namespace mlir;
using namespace llvm;

namespace heddle {

/// The tokenizer that the folder has, of the kinds that are supported.
static Expected<ImportedTokenizer>
readTokenizer(StringRef folder, const HuggingFaceConfig &config,
              DictionaryAttr generation) {
  if (config.sourceCharacters.empty())
    return readFolderTokenizer(folder, config.architecture->tokenizerClass,
                               config.vocabulary);
  auto ends = cast<DenseI32ArrayAttr>(generation.get("eos"));
  std::optional<int64_t> eos;
  if (!ends.empty())
    eos = ends[0];
  return makeCharacterTokenizer(config.sourceCharacters,
                                config.targetCharacters, config.bos, eos,
                                config.vocabulary);
}

/// Copies of tables that are one, and what transformers does not load either.
static bool isUsuallyUnread(StringRef tensor) {
  constexpr StringLiteral endings[] = {
      ".position_ids",   "shared.weight",   "embed_tokens.weight",
      "encoder.version", "decoder.version", "embed_positions.weights"};
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

Expected<ImportedModel> importEncoderDecoder(HuggingFaceFolder &folder) {
  Expected<HuggingFaceConfig> config = readHuggingFaceConfig(folder.config);
  if (!config)
    return config.takeError();
  Expected<DictionaryAttr> generation = readGeneration(
      folder.config, folder.generation ? &*folder.generation : nullptr, *config,
      folder.context);
  if (!generation)
    return generation.takeError();
  ImportedModel model;
  if (Error error = addWeights(folder, model))
    return std::move(error);
  Expected<ImportedTokenizer> tokenizer =
      readTokenizer(folder.path, *config, *generation);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);

  model.module = createModule(folder.path, config->architecture->modelType,
                              folder.context);
  LayerBuilder layers(*model.module, model.weights, folder.missingTensors());
  std::string prefix = prefixOf(*config->architecture, layers);
  auto find = [&](StringRef name) { return layers.find(name); };
  model.remarks =
      settleForm(folder.config, *config,
                 folder.options.randomSeed ? FindTensor() : find, prefix);
  sayWhatIsIgnored(folder, model);
  HuggingFaceModel functions(layers, *config, prefix);
  config->architecture->buildEncode(functions);
  functions.buildDecode();
  if (Error error = layers.takeError())
    return std::move(error);
  // transformers' tables of positions end there, also those of formulas.
  setTasks(*model.module,
           {config->vocabulary, config->decoderVocabulary,
            config->sourceLimit.value_or(config->encoder.maxPositions),
            *generation, config->pad});
  if (Error error =
          finishParameters(folder, isUsuallyUnread, config->deviation, model))
    return std::move(error);
  return model;
}

} // namespace heddle
