//===- EncoderFamily.cpp - Encoders with norms behind sublayers -----------===//
//
// Defaults are those of transformers 4.57.6, and so is what a field means.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
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

void EncoderImport::readSizes() {
  ConfigReader &reader = folder.config;
  const EncoderFields &fields = family.fields;
  auto size = [&](const SizeField &field, int64_t most) {
    return reader.size(field.name, field.byDefault, 1, most);
  };
  config.vocabulary =
      reader.size("vocab_size", family.vocabulary, 1, kMaxVocabulary);
  config.width = size(fields.width, kMaxWidth);
  config.depth = size(fields.depth, kMaxDepth) * family.layersPerStep;
  config.heads = size(fields.heads, kMaxWidth);
  if (fields.headsDivideWidth && config.width % config.heads != 0)
    reader.fail(fields.heads.name, "divisors of " + fields.width.name + " = " +
                                       Twine(config.width));
  config.ffnWidth = size(fields.ffnWidth, kMaxWidth);
  config.tableWidth =
      fields.tableWidth ? size(*fields.tableWidth, kMaxWidth) : config.width;
  int64_t unusable = family.pad ? *family.pad + 1 : 0;
  config.positionRows =
      fields.positions.name.empty()
          ? kMaxWidth
          : reader.size(fields.positions.name, fields.positions.byDefault,
                        unusable + 1, kMaxWidth);
  config.positions = config.positionRows - unusable;
  config.types =
      family.types ? reader.size("type_vocab_size", *family.types, 1, kMaxWidth)
                   : 0;
}

Error EncoderImport::readConfig() {
  ConfigReader &reader = folder.config;
  const EncoderFields &fields = family.fields;
  readSizes();
  if (!fields.activation.empty())
    config.activation =
        readActivation(reader, fields.activation, fields.usualActivation);
  config.epsilon =
      float(fields.epsilon.empty()
                ? fields.usualEpsilon
                : reader.number(fields.epsilon, fields.usualEpsilon, 0, 1));
  config.deviation = folder.options.randomSeed
                         ? reader.number("initializer_range", 0.02, 1e-9, 1e9)
                         : 0;
  // With null the classes add no positions.
  if (fields.readsPositionKind)
    if (const json::Value *kind = reader.read("position_embedding_type");
        kind && *kind != json::Value("absolute"))
      reader.fail("position_embedding_type", "\"absolute\"");
  refuseUnsupportedEncoder(reader, fields.mayDecode);
  refuseOwnCode(reader);
  ignoreKnownFields(reader);
  reader.ignore(kTokenFields);
  if (Error error = reader.takeError())
    return error;
  return cutLayers();
}

/// Leaves the layers that are asked for.
Error EncoderImport::cutLayers() {
  config.usedDepth = config.depth;
  std::optional<int64_t> asked = folder.options.layers;
  config.isWhole = !asked;
  if (!asked)
    return Error::success();
  int64_t steps = config.depth / family.layersPerStep;
  if (*asked < -steps - 1 || *asked > steps)
    return makeError("--layers is " + Twine(*asked) + ", but '" + folder.root +
                     "' has " + Twine(steps) +
                     (steps == 1 ? " layer" : " layers") + " (expected " +
                     Twine(-steps - 1) + " to " + Twine(steps) + ")");
  config.usedDepth =
      (*asked < 0 ? steps + 1 + *asked : *asked) * family.layersPerStep;
  return Error::success();
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
  if (family.hasGlobalTokens)
    arguments.push_back({"global", {"batch", "globals"}});
  auto values =
      layers->beginFunction({"encode", arguments, "memory", config.width});
  Inputs inputs;
  size_t next = 0;
  inputs.ids = values[next++];
  if (config.types > 0)
    inputs.types = values[next++];
  if (family.pad)
    inputs.positions = values[next++];
  inputs.lengths = values[next++];
  if (family.hasGlobalTokens)
    inputs.global = values[next];
  return inputs;
}

Value EncoderImport::lookUp(Value ids, StringRef table, int64_t rows) {
  return layers->embedding(
      ids, getBlocks().table({nameOf(table), rows, config.tableWidth}));
}

Value EncoderImport::addEmbeddings(const Inputs &inputs) {
  const EncoderNames &names = family.names;
  Value x = lookUp(inputs.ids, names.words, config.vocabulary);
  if (inputs.types)
    x = layers->add(x, lookUp(inputs.types, names.types, config.types));
  if (inputs.positions)
    x = layers->add(
        x, lookUp(inputs.positions, names.positions, config.positionRows));
  else
    x = layers->learnedPositions(
        x,
        getBlocks().table(
            {nameOf(names.positions), config.positionRows, config.tableWidth}),
        /*offset=*/0);
  x = norm(x, names.norm);
  return names.projection.empty()
             ? x
             : getBlocks().linear(x, {nameOf(names.projection), config.width});
}

Value EncoderImport::norm(Value input, StringRef name) {
  return getBlocks().norm(input, {nameOf(name), config.epsilon});
}

Value EncoderImport::addLayer(Value input, int64_t number, Value mask,
                              AdaptAttention adapt) {
  Blocks blocks = getBlocks();
  const EncoderNames &names = family.names;
  auto of = [&](const std::string &part) {
    return nameOf(names.layer(number) + "." + part);
  };
  auto wide = [&](const std::string &part) {
    return LinearBlock{of(part), config.width};
  };
  AttentionBlock attention{of("attention"),    wide(names.query),
                           wide(names.key),    wide(names.value),
                           wide(names.output), config.heads};
  attention.mask = mask;
  if (adapt)
    adapt(attention, number);
  FfnBlock ffn{
      {of(names.up), config.ffnWidth}, wide(names.down), config.activation};
  auto join = [&](Value output, Value input, const std::string &norm) {
    return blocks.norm(layers->add(output, input), {of(norm), config.epsilon});
  };
  Value x = join(blocks.attention(input, /*memory=*/Value(), attention), input,
                 names.attentionNorm);
  return join(blocks.ffn(x, ffn), x, names.ffnNorm);
}

Value EncoderImport::addLayers(Value input, Value lengths,
                               AdaptAttention adapt) {
  Value mask = layers->paddingMask(lengths);
  for (int64_t number = 0; number < config.usedDepth; ++number)
    input = addLayer(input, number, mask, adapt);
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
                                     "pre_classifier.",
                                     "query_global.",
                                     "key_global.",
                                     "value_global.",
                                     "vocab_",
                                     "generator_lm_head.",
                                     "decoder.block.",
                                     "decoder.final_layer_norm.",
                                     "embed_tokens.",
                                     "embeddings.position_embeddings",
                                     "embeddings.position_ids"};
  return any_of(heads, [&](StringRef head) { return tensor.contains(head); });
}

/// Writes how sparse vectors are computed of hidden states.
Error EncoderImport::addSparseEmbed(const EmbedModules &embed,
                                    const HeadInputs &inputs) {
  if (!folder.options.pooling.empty() || !config.isWhole)
    return makeError("'" + folder.root +
                     "' makes sparse vectors of what the head behind its last "
                     "layer says (expected no --pool and no --layers)");
  if (!family.heads)
    return makeError("'" + folder.root +
                     "' makes sparse vectors with a head "
                     "that is not imported for this family");
  auto logits = [&](Value states) {
    return buildWordLogits(folder, *layers, family.heads(*this), inputs,
                           states);
  };
  if (Error error =
          buildSparseEmbed(*layers, config.width, config.vocabulary, logits))
    return error;
  setTask(*model.module, kEmbedTask, describeEmbedTask(embed, folder.context));
  return Error::success();
}

/// Writes what is computed of hidden states: vectors of texts, and what a head
/// makes of them if the folder is not one of sentence-transformers.
Expected<EmbedModules>
EncoderImport::addTasks(const ImportedTokenizer &tokenizer) {
  Expected<EmbedModules> embed = readEmbedModules(folder, config.width);
  if (!embed)
    return embed.takeError();
  // Pipelines of transformers ask the tokenizer alone how long a text may be.
  std::optional<int64_t> mostOfHeads = embed->maxTokens;
  embed->limitTokens(config.positionRows);
  if (*embed->maxTokens < tokenizer.specialCount)
    return makeError("'" + folder.root + "' reads texts of at most " +
                     Twine(*embed->maxTokens) +
                     " tokens (max_seq_length), expected at least the " +
                     Twine(tokenizer.specialCount) +
                     " that its tokenizer puts around each");
  if (family.limitsTexts)
    mostOfHeads = embed->maxTokens;
  std::optional<int64_t> end;
  if (const json::Value *eos = tokenizer.manifest.get("eos"))
    end = eos->getAsInteger();
  HeadInputs inputs = {config.width, config.tableWidth, config.vocabulary,
                       mostOfHeads,  tokenizer.mask,    tokenizer.padsLeft,
                       end};
  if (embed->logarithms > 0) {
    if (Error error = addSparseEmbed(*embed, inputs))
      return std::move(error);
    return embed;
  }
  if (!folder.options.pooling.empty())
    embed->modes.assign(folder.options.pooling.begin(),
                        folder.options.pooling.end());
  if (!embed->hasKnownPrompt())
    return makeError("'" + folder.root +
                     "' pools no prompt, which the modes cls and max together "
                     "need (expected another --pool)");
  if (!folder.options.randomSeed)
    if (Error error = addModuleWeights(folder, *embed, model.weights))
      return std::move(error);
  if (Error error = buildEmbed(*layers, *embed, config.width))
    return std::move(error);
  setTask(*model.module, kEmbedTask, describeEmbedTask(*embed, folder.context));
  if (!family.heads || embed->isOfLibrary || !config.isWhole)
    return embed;
  if (Error error =
          addHeads(folder, *layers, family.heads(*this), inputs, model))
    return std::move(error);
  return embed;
}

Expected<ImportedModel> EncoderImport::finish(Value output) {
  layers->endFunction(output);
  SourceAttributes source;
  source.vocabulary = config.vocabulary;
  if (family.limitsTexts)
    source.positions = config.positions;
  if (config.types > 0)
    source.types = config.types;
  source.pad = family.pad;
  setSource(*model.module, source);
  Expected<ImportedTokenizer> tokenizer = readFolderTokenizer(
      folder.path, family.tokenizerClass, config.vocabulary);
  if (!tokenizer)
    return tokenizer.takeError();
  Expected<EmbedModules> embed = addTasks(*tokenizer);
  if (!embed)
    return embed.takeError();
  if (Error error = layers->takeError())
    return std::move(error);
  if (Error error = folder.config.takeError())
    return std::move(error);
  if (tokenizer->cutsLeft)
    return makeError("the tokenizer in '" + folder.path +
                     "' cuts texts at their beginnings (supported: "
                     "\"truncation_side\": \"right\")");
  embed->prepareTexts(*tokenizer);
  setTokenizer(std::move(*tokenizer), model);
  // An encoder generates nothing.
  folder.generation.reset();
  sayWhatIsIgnored(folder, model);
  // Nobody has to be told what was left out on purpose.
  auto isUnread = [&](StringRef tensor) {
    return !config.isWhole || isUsuallyUnread(tensor);
  };
  if (Error error = finishParameters(folder, isUnread, config.deviation, model))
    return std::move(error);
  return std::move(model);
}

EncoderHeads headsOfRoberta(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"lm_head.dense", config.width},
                ActivationKind::Gelu,
                NormBlock{"lm_head.layer_norm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "lm_head.decoder.weight";
  heads.fillBiases = {"lm_head.decoder.bias", "lm_head.bias"};
  heads.classify = {LinearBlock{"classifier.dense", config.width},
                    ActivationKind::Tanh};
  heads.classifier = "classifier.out_proj";
  return heads;
}

Expected<ImportedModel> importEncoder(HuggingFaceFolder &folder,
                                      const EncoderFamily &family) {
  auto import = EncoderImport::begin(folder, family);
  if (!import)
    return import.takeError();
  EncoderImport::Inputs inputs = (*import)->beginEncode();
  Value x = (*import)->addEmbeddings(inputs);
  return (*import)->finish((*import)->addLayers(x, inputs.lengths));
}

} // namespace heddle
