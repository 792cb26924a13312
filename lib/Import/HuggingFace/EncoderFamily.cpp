//===- EncoderFamily.cpp - Encoders with norms behind sublayers -----------===//
//
// Defaults are those of transformers 4.57.6, and so is what a field means.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/SentenceTransformers.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

/// A model that is code of the folder has another network than its class.
static void refuseOwnCode(ConfigReader &config) {
  const json::Value *map = config.readNonNull("auto_map");
  const json::Object *classes = map ? map->getAsObject() : nullptr;
  if (classes && classes->getString("AutoModel"))
    config.fail("auto_map", "no code of the folder: its model is not that of "
                            "transformers' class");
}

/// Which tokens a model pads with, begins and ends: its tokenizer says so, or
/// what it generates.
static constexpr StringLiteral kTokenFields[] = {
    "bos_token_id", "decoder_start_token_id", "eos_token_id", "pad_token_id"};

Error EncoderImport::readConfig() {
  ConfigReader &reader = folder.config;
  config.vocabulary =
      reader.size("vocab_size", family.vocabulary, 1, kMaxVocabulary);
  config.width = reader.size("hidden_size", 768, 1, kMaxWidth);
  config.depth = reader.size("num_hidden_layers", 12, 1, kMaxDepth);
  config.heads = reader.size("num_attention_heads", 12, 1, kMaxWidth);
  if (config.width % config.heads != 0)
    reader.fail("num_attention_heads",
                "divisors of hidden_size = " + Twine(config.width));
  config.ffnWidth = reader.size("intermediate_size", 3072, 1, kMaxWidth);
  config.activation = readActivation(reader, "hidden_act", "gelu");
  int64_t unusable = family.pad ? *family.pad + 1 : 0;
  config.positionRows =
      reader.size("max_position_embeddings", 512, unusable + 1, kMaxWidth);
  config.positions = config.positionRows - unusable;
  config.types =
      family.types ? reader.size("type_vocab_size", *family.types, 1, kMaxWidth)
                   : 0;
  config.epsilon = float(reader.number("layer_norm_eps", 1e-12, 0, 1));
  config.deviation = folder.options.randomSeed
                         ? reader.number("initializer_range", 0.02, 1e-9, 1e9)
                         : 0;
  refuseUnsupportedEncoder(reader);
  refuseOwnCode(reader);
  ignoreKnownFields(reader);
  reader.ignore(kTokenFields);
  return reader.takeError();
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<EncoderImport>>
EncoderImport::begin(HuggingFaceFolder &folder, const EncoderFamily &family) {
  std::unique_ptr<EncoderImport> import(new EncoderImport(folder, family));
  if (Error error = import->readConfig())
    return std::move(error);
  if (Error error = addWeights(folder, import->model))
    return std::move(error);
  import->model.module =
      createModule(folder.path, family.modelType, folder.context);
  import->layers.emplace(*import->model.module, import->model.weights,
                         folder.missingTensors());
  std::string prefix = family.prefix.str() + ".";
  if (import->layers->hasTensors(prefix))
    import->prefix = prefix;
  return import;
}

EncoderImport::Inputs EncoderImport::beginEncode() {
  SmallVector<LayerBuilder::Argument> arguments = {
      {"ids", {"batch", "source"}}};
  if (config.types > 0)
    arguments.push_back({"types", {"batch", "source"}});
  if (family.pad)
    arguments.push_back({"source_positions", {"batch", "source"}});
  arguments.push_back({"lengths", {"batch"}});
  auto values =
      layers->beginFunction({"encode", arguments, "memory", config.width});
  Inputs inputs;
  size_t next = 0;
  inputs.ids = values[next++];
  if (config.types > 0)
    inputs.types = values[next++];
  if (family.pad)
    inputs.positions = values[next++];
  inputs.lengths = values[next];
  return inputs;
}

Value EncoderImport::lookUp(Value ids, StringRef table, int64_t rows) {
  return layers->embedding(
      ids, getBlocks().table({nameOf(table), rows, config.width}));
}

Value EncoderImport::norm(Value input, StringRef name) {
  return getBlocks().norm(input, {nameOf(name), config.epsilon});
}

Value EncoderImport::addLayer(Value input, int64_t number, Value mask,
                              Value biases) {
  Blocks blocks = getBlocks();
  const EncoderLayerNames &names = family.names;
  auto of = [&](const std::string &part) {
    return nameOf("encoder.layer." + std::to_string(number) + "." + part);
  };
  auto wide = [&](const std::string &part) {
    return LinearBlock{of(part), config.width};
  };
  AttentionBlock attention{of("attention"),    wide(names.query),
                           wide(names.key),    wide(names.value),
                           wide(names.output), config.heads};
  attention.mask = mask;
  attention.biases = biases;
  FfnBlock ffn{
      {of(names.up), config.ffnWidth}, wide(names.down), config.activation};
  auto join = [&](Value output, Value input, const std::string &norm) {
    return blocks.norm(layers->add(output, input), {of(norm), config.epsilon});
  };
  Value x = join(blocks.attention(input, /*memory=*/Value(), attention), input,
                 names.attentionNorm);
  return join(blocks.ffn(x, ffn), x, names.ffnNorm);
}

Value EncoderImport::addLayers(Value input, Value lengths, Value biases) {
  Value mask = layers->paddingMask(lengths);
  for (int64_t number = 0; number < config.depth; ++number)
    input = addLayer(input, number, mask, biases);
  return input;
}

//===----------------------------------------------------------------------===//
// Around it
//===----------------------------------------------------------------------===//

/// Heads of tasks that the model is not imported for.
static bool isUsuallyUnread(StringRef tensor) {
  constexpr StringLiteral heads[] = {"pooler.",
                                     "cls.",
                                     "classifier.",
                                     "lm_head.",
                                     "qa_outputs.",
                                     "predictions.",
                                     "embeddings.position_ids"};
  return any_of(heads, [&](StringRef head) { return tensor.contains(head); });
}

Expected<ImportedModel> EncoderImport::finish(Value output) {
  layers->endFunction(output);
  Expected<EmbedModules> embed = readEmbedModules(folder, config.width);
  if (!embed)
    return embed.takeError();
  embed->limitTokens(config.positionRows);
  if (!folder.options.pooling.empty())
    embed->modes.assign(folder.options.pooling.begin(),
                        folder.options.pooling.end());
  if (!folder.options.randomSeed)
    if (Error error = addModuleWeights(folder, *embed, model.weights))
      return std::move(error);
  if (Error error = buildEmbed(*layers, *embed, config.width))
    return std::move(error);
  if (Error error = layers->takeError())
    return std::move(error);
  if (Error error = folder.config.takeError())
    return std::move(error);
  SourceAttributes source;
  source.vocabulary = config.vocabulary;
  source.positions = config.positions;
  if (config.types > 0)
    source.types = config.types;
  source.pad = family.pad;
  setSource(*model.module, source);
  setTask(*model.module, kEmbedTask, describeEmbedTask(*embed, folder.context));
  Expected<ImportedTokenizer> tokenizer = readFolderTokenizer(
      folder.path, family.tokenizerClass, config.vocabulary);
  if (!tokenizer)
    return tokenizer.takeError();
  embed->prepareTexts(*tokenizer);
  setTokenizer(std::move(*tokenizer), model);
  // An encoder generates nothing.
  folder.generation.reset();
  sayWhatIsIgnored(folder, model);
  if (Error error =
          finishParameters(folder, isUsuallyUnread, config.deviation, model))
    return std::move(error);
  return std::move(model);
}

} // namespace heddle
