//===- HuggingFaceModel.cpp - What BART's descendants share ---------------===//
//
// One description serves all: what differs is in the configuration.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceModel.h"
#include "lib/Import/Blocks.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// torch.nn.LayerNorm's default, which all classes use.
static constexpr float kEpsilon = 1e-5f;

std::string HuggingFaceModel::firstOf(ArrayRef<std::string> names) const {
  auto found = find_if(names, [&](const auto &n) { return layers.find(n); });
  return found == names.end() ? names.front() : *found;
}

/// What transformers' from_pretrained ends up with: the shared table first
/// if tables are one, each side's own if they are not. An untied BART
/// that transformers saved has lost the tables of its sides to the shared one.
HuggingFaceModel::HuggingFaceModel(LayerBuilder &layers,
                                   const HuggingFaceConfig &config,
                                   StringRef prefix)
    : layers(layers), config(config), prefix(prefix) {
  const HuggingFaceArchitecture &architecture = *config.architecture;
  auto inPrefix = [&](StringRef name) { return (prefix + name).str(); };
  SmallVector<std::string> shared =
      map_to_vector(architecture.sharedTables, inPrefix);
  auto ownTable = [&](StringRef side) {
    SmallVector<std::string> names = {inPrefix(side)};
    if (architecture.sidesFallBack)
      names.push_back(shared.front());
    return firstOf(names);
  };
  if (config.shareEmbeddings) {
    encoderTable = decoderTable = firstOf(shared);
  } else {
    encoderTable = ownTable("encoder.embed_tokens.weight");
    decoderTable = ownTable("decoder.embed_tokens.weight");
  }
  if (!architecture.outputTable.empty() && !config.shareEmbeddings)
    decoderTable = firstOf({inPrefix(architecture.outputTable),
                            inPrefix("decoder.embed_tokens.weight")});
  outputTable = config.tieWordEmbeddings ? decoderTable : "lm_head.weight";
}

std::string HuggingFaceModel::layerName(StringRef side, int64_t layer) const {
  return (prefix + side + ".layers." + Twine(layer)).str();
}

Value HuggingFaceModel::dense(Value input, const std::string &name,
                              int64_t width) {
  return Blocks(layers).linear(input, {name, width});
}

Value HuggingFaceModel::norm(Value input, const std::string &name) {
  return Blocks(layers).norm(input, {name, kEpsilon});
}

Value HuggingFaceModel::sublayer(Value input, const std::string &normName,
                                 llvm::function_ref<Value(Value)> apply) {
  if (config.form.normalizeBefore)
    return layers.add(input, apply(norm(input, normName)));
  return norm(layers.add(input, apply(input)), normName);
}

Value HuggingFaceModel::attention(Value input, Value memory, Value mask,
                                  const std::string &name, int64_t heads) {
  auto wide = [&](const char *part) {
    return LinearBlock{name + part, config.width, config.attentionBias};
  };
  AttentionBlock block{name,
                       wide(".q_proj"),
                       wide(".k_proj"),
                       wide(".v_proj"),
                       wide(".out_proj"),
                       heads};
  block.mask = mask;
  return sublayer(input, name + "_layer_norm", [&](Value x) {
    return Blocks(layers).attention(x, memory, block);
  });
}

Value HuggingFaceModel::feedForward(Value input, const std::string &layer,
                                    int64_t ffnWidth) {
  FfnBlock block{{layer + ".fc1", ffnWidth},
                 {layer + ".fc2", config.width},
                 config.activation};
  return sublayer(input, layer + ".final_layer_norm",
                  [&](Value x) { return Blocks(layers).ffn(x, block); });
}

Value HuggingFaceModel::addPositions(Value input, const std::string &side,
                                     Value positions) {
  int64_t most =
      (side == "encoder" ? config.encoder : config.decoder).maxPositions;
  // A static table may be stored, too, and then counts.
  std::string stored = prefix + side + ".embed_positions.weight";
  bool readsStored = !config.pad || config.architecture->storesPositions;
  bool isComputed =
      config.form.staticPositions && !(readsStored && layers.find(stored));
  if (isComputed && config.width % 2 != 0)
    layers.fail("'d_model' of config.json is " + Twine(config.width) +
                ", expected an even width, since one half holds sines");
  if (isComputed && !config.pad)
    return layers.sinusoidalPositions(input, config.width / 2);
  int64_t offset = config.positionsOffset, rows = most + offset;
  Value table = isComputed
                    ? layers.sinusoidTable(rows, config.width, *config.pad)
                    : Blocks(layers).table({stored, rows, config.width});
  return positions ? layers.add(input, layers.embedding(positions, table))
                   : layers.learnedPositions(input, table, offset);
}

Value HuggingFaceModel::embed(Value ids, const std::string &side,
                              Value positions) {
  bool isEncoder = side == "encoder";
  Value table = Blocks(layers).table(
      {isEncoder ? encoderTable : decoderTable,
       isEncoder ? config.vocabulary : config.decoderRows, config.width});
  float scale = config.scaleEmbedding ? std::sqrt(double(config.width)) : 1.0;
  Value x = layers.embedding(ids, table, scale);
  auto normalize = [&](bool isHere) {
    if (isHere && config.form.normalizeEmbedding)
      x = norm(x, prefix + side + ".layernorm_embedding");
  };
  bool isFirst = !isEncoder && config.architecture->normalizesBeforePositions;
  normalize(isFirst);
  x = addPositions(x, side, positions);
  normalize(!isFirst);
  return x;
}

Value HuggingFaceModel::finish(Value input, const std::string &side) {
  if (config.form.finalNorm)
    return norm(input,
                prefix + side + "." + config.architecture->finalNorm.str());
  return input;
}

void HuggingFaceModel::buildDecode() {
  int64_t vocabulary = config.decoderVocabulary;
  auto arguments = layers.beginDecode(config.width, vocabulary);
  if (int64_t heads = config.architecture->alignedHeads)
    layers.setAlignment(/*layer=*/-1, heads);
  Value memory = arguments[1];
  Value causal = layers.causalMask();
  Value mask = layers.paddingMask(arguments[2]);
  Value x = embed(arguments[0], "decoder");
  for (int64_t i = 0; i < config.decoder.depth; ++i) {
    std::string layer = layerName("decoder", i);
    x = attention(x, /*memory=*/Value(), causal, layer + ".self_attn",
                  config.decoder.heads);
    x = attention(x, memory, mask, layer + ".encoder_attn",
                  config.decoder.heads);
    x = feedForward(x, layer, config.decoder.ffnWidth);
  }
  x = finish(x, "decoder");

  Value bias;
  if (layers.find("final_logits_bias"))
    bias = layers.weight({"final_logits_bias",
                          {vocabulary},
                          /*transposed=*/false,
                          {vocabulary}});
  layers.endFunction(
      Blocks(layers).logits(x, {outputTable, vocabulary, config.width},
                            config.tieWordEmbeddings, bias));
}

} // namespace heddle
