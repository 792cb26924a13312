//===- ImportHuggingFace.cpp - Encoder-decoders in Hugging Face's form ----===//
//
// BartForConditionalGeneration and MarianMTModel: `config.json`, perhaps
// `generation_config.json`, and safetensors whose names are those of
// transformers' modules. Linear weights are stored [out, in]. The two classes
// differ in positions and embedding norm only, so one description serves both.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceGeneration.h"
#include "lib/Import/ImportModel.h"
#include "lib/Import/LayerBuilder.h"
#include "lib/Weights/Error.h"
#include "lib/Weights/Json.h"
#include "lib/Weights/MappedFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// torch.nn.LayerNorm's default, which both classes use.
static constexpr float kEpsilon = 1e-5f;

/// The first two rows of BART's table of positions are not positions.
static constexpr int64_t kLearnedPositionsOffset = 2;

namespace {
/// Writes the functions of one model.
class HuggingFaceModel {
public:
  HuggingFaceModel(LayerBuilder &layers, const HuggingFaceConfig &config);

  void buildEncode();
  void buildDecode();

private:
  Value dense(Value input, const std::string &name, int64_t width);
  Value norm(Value input, const std::string &name);
  /// A sublayer with its residual and its norm, before or behind.
  Value sublayer(Value input, const std::string &norm,
                 llvm::function_ref<Value(Value)> apply);

  /// Attention where memory is null is self-attention.
  Value attention(Value input, Value memory, Value mask,
                  const std::string &name, int64_t heads);
  Value feedForward(Value input, const std::string &layer, int64_t ffnWidth);
  Value embed(Value ids, const std::string &side, const std::string &table);
  /// The norm behind the last layer.
  Value finish(Value input, const std::string &side);
  /// Refuses a tensor that the configuration leaves unused.
  void expectNone(const std::string &tensor, StringRef field);

  LayerBuilder &layers;
  const HuggingFaceConfig &config;
  /// Names of the tensors behind the three tables.
  std::string encoderTable, decoderTable, outputTable;
};
} // namespace

/// What transformers' from_pretrained ends up with: the shared table first
/// where tables are one, each side's own where they are not. An untied BART
/// that transformers saved has lost the tables of its sides to the shared one.
HuggingFaceModel::HuggingFaceModel(LayerBuilder &layers,
                                   const HuggingFaceConfig &config)
    : layers(layers), config(config) {
  const std::string shared = "model.shared.weight",
                    encoder = "model.encoder.embed_tokens.weight",
                    decoder = "model.decoder.embed_tokens.weight";
  bool isMarian =
      config.architecture == HuggingFaceConfig::Architecture::Marian;
  auto firstOf = [&](ArrayRef<std::string> names) {
    auto found = find_if(names, [&](const auto &n) { return layers.find(n); });
    return found == names.end() ? names.front() : *found;
  };
  if (isMarian && config.shareEmbeddings)
    encoderTable = decoderTable = firstOf({shared, encoder, decoder});
  else if (!isMarian && config.tieWordEmbeddings)
    encoderTable = decoderTable = firstOf({shared, decoder});
  else if (isMarian) {
    encoderTable = encoder;
    decoderTable = decoder;
  } else {
    encoderTable = firstOf({encoder, shared});
    decoderTable = firstOf({decoder, shared});
  }
  outputTable = config.tieWordEmbeddings ? decoderTable : "lm_head.weight";
}

Value HuggingFaceModel::dense(Value input, const std::string &name,
                              int64_t width) {
  int64_t inputWidth = cast<RankedTensorType>(input.getType()).getDimSize(2);
  Value weight = layers.weight({name + ".weight",
                                {inputWidth, width},
                                /*transposed=*/true,
                                {width, inputWidth}});
  Value bias =
      layers.weight({name + ".bias", {width}, /*transposed=*/false, {width}});
  return layers.linear(input, weight, bias);
}

Value HuggingFaceModel::norm(Value input, const std::string &name) {
  auto vector = [&](const char *suffix) {
    return layers.weight(
        {name + suffix, {config.width}, /*transposed=*/false, {config.width}});
  };
  Value gamma = vector(".weight"), beta = vector(".bias");
  return layers.layerNorm(input, gamma, beta, kEpsilon);
}

Value HuggingFaceModel::sublayer(Value input, const std::string &normName,
                                 llvm::function_ref<Value(Value)> apply) {
  if (config.normalizeBefore)
    return layers.add(input, apply(norm(input, normName)));
  return norm(layers.add(input, apply(input)), normName);
}

Value HuggingFaceModel::attention(Value input, Value memory, Value mask,
                                  const std::string &name, int64_t heads) {
  return sublayer(input, name + "_layer_norm", [&](Value x) {
    Value source = memory ? memory : x;
    Value query = dense(x, name + ".q_proj", config.width);
    Value key = dense(source, name + ".k_proj", config.width);
    Value value = dense(source, name + ".v_proj", config.width);
    Value output = layers.attention(name, query, key, value, mask, heads);
    return dense(output, name + ".out_proj", config.width);
  });
}

Value HuggingFaceModel::feedForward(Value input, const std::string &layer,
                                    int64_t ffnWidth) {
  return sublayer(input, layer + ".final_layer_norm", [&](Value x) {
    x = dense(x, layer + ".fc1", ffnWidth);
    if (config.activation)
      x = layers.activation(*config.activation, x);
    return dense(x, layer + ".fc2", config.width);
  });
}

Value HuggingFaceModel::embed(Value ids, const std::string &side,
                              const std::string &table) {
  Value weight = layers.weight({table,
                                {config.vocabulary, config.width},
                                /*transposed=*/false,
                                {config.vocabulary, config.width}});
  float scale = config.scaleEmbedding ? std::sqrt(double(config.width)) : 1.0;
  Value x = layers.embedding(ids, weight, scale);

  // A static table may be stored, too, and then counts.
  std::string positions = "model." + side + ".embed_positions.weight";
  if (config.staticPositions && !layers.find(positions)) {
    x = layers.sinusoidalPositions(x, config.width / 2);
  } else {
    int64_t offset = config.staticPositions ? 0 : kLearnedPositionsOffset;
    int64_t rows = config.maxPositions + offset;
    x = layers.learnedPositions(x,
                                layers.weight({positions,
                                               {rows, config.width},
                                               /*transposed=*/false,
                                               {rows, config.width}}),
                                offset);
  }
  std::string embeddingNorm = "model." + side + ".layernorm_embedding";
  if (config.normalizeEmbedding)
    return norm(x, embeddingNorm);
  expectNone(embeddingNorm + ".weight", "normalize_embedding");
  return x;
}

Value HuggingFaceModel::finish(Value input, const std::string &side) {
  std::string finalNorm = "model." + side + ".layer_norm";
  if (config.finalNorm)
    return norm(input, finalNorm);
  expectNone(finalNorm + ".weight", "add_final_layer_norm");
  return input;
}

void HuggingFaceModel::expectNone(const std::string &tensor, StringRef field) {
  if (layers.find(tensor))
    layers.fail("'" + field +
                "' of config.json is false but the model has the "
                "tensor '" +
                tensor + "'");
}

void HuggingFaceModel::buildEncode() {
  auto arguments = layers.beginFunction(
      "encode", {{"ids", {"batch", "source"}}, {"lengths", {"batch"}}},
      "memory", config.width, {"full"});
  Value mask = layers.paddingMask(arguments[1]);
  Value x = embed(arguments[0], "encoder", encoderTable);
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = "model.encoder.layers." + std::to_string(i);
    x = attention(x, /*memory=*/Value(), mask, layer + ".self_attn",
                  config.encoder.heads);
    x = feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(finish(x, "encoder"));
}

void HuggingFaceModel::buildDecode() {
  int64_t vocabulary = config.decoderVocabulary;
  auto arguments =
      layers.beginFunction("decode",
                           {{"ids", {"batch", "target"}, 0, /*isTarget=*/true},
                            {"memory", {"batch", "source"}, config.width},
                            {"lengths", {"batch"}}},
                           "logits", vocabulary, {"full", "step"});
  Value memory = arguments[1];
  Value causal = layers.causalMask();
  Value mask = layers.paddingMask(arguments[2]);
  Value x = embed(arguments[0], "decoder", decoderTable);
  for (int64_t i = 0; i < config.decoder.depth; ++i) {
    std::string layer = "model.decoder.layers." + std::to_string(i);
    x = attention(x, /*memory=*/Value(), causal, layer + ".self_attn",
                  config.decoder.heads);
    x = attention(x, memory, mask, layer + ".encoder_attn",
                  config.decoder.heads);
    x = feedForward(x, layer, config.decoder.ffnWidth);
  }
  x = finish(x, "decoder");

  // A tied table is stored once more, [in, out]: the loop over the vocabulary
  // is contiguous.
  std::string symbol = outputTable;
  if (config.tieWordEmbeddings)
    symbol += ".transposed";
  Value projection = layers.weight({outputTable,
                                    {config.width, vocabulary},
                                    /*transposed=*/true,
                                    {vocabulary, config.width},
                                    symbol});
  Value bias;
  if (layers.find("final_logits_bias"))
    bias = layers.weight({"final_logits_bias",
                          {vocabulary},
                          /*transposed=*/false,
                          {vocabulary}});
  layers.endFunction(layers.linear(x, projection, bias));
}

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
static Expected<Tokenizer>
readTokenizer(StringRef folder, const HuggingFaceConfig &config, int32_t eos) {
  if (!config.sourceCharacters.empty())
    return makeCharacterTokenizer(config.sourceCharacters,
                                  config.targetCharacters, config.bos, eos,
                                  config.vocabulary);
  if (config.architecture == HuggingFaceConfig::Architecture::Marian)
    return readMarianMtTokenizer(folder, config.vocabulary);
  return Tokenizer();
}

Expected<ImportedModel> importHuggingFaceFolder(StringRef folder,
                                                MLIRContext &context) {
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
  if (Error error = model.weights.addSafetensorsFolder(folder))
    return std::move(error);
  int32_t eos = cast<DenseI32ArrayAttr>(generation->get("eos"))[0];
  Expected<Tokenizer> tokenizer = readTokenizer(folder, *config, eos);
  if (!tokenizer)
    return tokenizer.takeError();
  model.tokenizer = std::move(tokenizer->manifest);
  model.sections = std::move(tokenizer->sections);

  bool isMarian =
      config->architecture == HuggingFaceConfig::Architecture::Marian;
  model.module = createModule(folder, isMarian ? "marian" : "bart", context);
  LayerBuilder layers(*model.module, model.weights);
  HuggingFaceModel functions(layers, *config);
  functions.buildEncode();
  functions.buildDecode();
  if (Error error = layers.takeError())
    return std::move(error);
  ModuleOp module = *model.module;
  module->setAttr(kVocabularyAttr,
                  getVocabularyAttr(context, config->vocabulary,
                                    config->decoderVocabulary));
  module->setAttr(kGenerationAttr, *generation);
  return model;
}

} // namespace heddle
