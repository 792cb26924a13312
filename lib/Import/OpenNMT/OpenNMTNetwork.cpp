//===- OpenNMTNetwork.cpp - The layers of OpenNMT-py's models -------------===//
//
// Positions are a table of sinusoids that a file has. With parallel residuals
// all sublayers of a layer read the same norm of its input.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/OpenNMT/OpenNMTNetwork.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// The output in front of which a vocabulary's logits stand; before release 3
/// it was the first of a sequence of modules.
static constexpr StringLiteral kOutput = "generator",
                               kOlderOutput = "generator.0";
static constexpr StringLiteral kEncoderLayers = "encoder.transformer.",
                               kDecoderLayers = "decoder.transformer_layers.";

static std::string embeddingsOf(StringRef scope, StringRef part) {
  return (scope + ".embeddings.make_embedding." + part).str();
}

/// The extent of a tensor's dimension; 1 if it is not there or has another
/// rank.
static int64_t extentOf(const LayerBuilder &layers, const std::string &name,
                        size_t rank, size_t dim) {
  const TensorInfo *tensor = layers.find(name);
  constexpr int64_t most = int64_t(1) << 31;
  if (!tensor || tensor->shape.size() != rank || tensor->shape[dim] <= 0 ||
      tensor->shape[dim] >= most)
    return 1;
  return tensor->shape[dim];
}

OpenNMTNetwork::OpenNMTNetwork(LayerBuilder &layers,
                               const OpenNMTOptions &options,
                               int64_t sourceTokens, int64_t targetTokens)
    : layers(layers), options(options) {
  std::string sourceTable = embeddingsOf("encoder", "emb_luts.0.weight"),
              targetTable = embeddingsOf("decoder", "emb_luts.0.weight");
  width = extentOf(layers, targetTable, 2, 1);
  ffnWidth = extentOf(
      layers, (kEncoderLayers + "0.feed_forward.w_1.weight").str(), 2, 0);
  bool isOlder = has((kOlderOutput + ".weight").str());
  std::string name = (isOlder ? kOlderOutput : kOutput).str();
  outputBias = name + ".bias";
  output = {name + ".weight", targetTokens, width};
  // Of a table with several names the one counts that is loaded last.
  target = {options.sharesOutput ? output.name : targetTable, targetTokens,
            width};
  source = {options.sharesTables ? target.name : sourceTable, sourceTokens,
            width};
  if (width % options.heads != 0)
    layers.fail("the model has " + Twine(options.heads) +
                " heads, expected a divisor of its width " + Twine(width));
}

bool OpenNMTNetwork::isUsual(StringRef name) const {
  if (name == embeddingsOf("encoder", "emb_luts.0.weight"))
    return options.sharesTables;
  if (name == embeddingsOf("decoder", "emb_luts.0.weight"))
    return options.sharesOutput;
  // Norms that layers with parallel residuals have and do not use.
  return options.isParallel && name.starts_with(kDecoderLayers) &&
         (name.contains(".layer_norm_res.") || name.contains(".layer_norm_2."));
}

std::optional<int64_t> OpenNMTNetwork::countPositions(StringRef scope) const {
  if (!options.addsPositions)
    return std::nullopt;
  return extentOf(layers, embeddingsOf(scope, "pe.pe"), 3, 0);
}

int64_t OpenNMTNetwork::countLayers(StringRef prefix) const {
  constexpr int64_t most = 1024;
  int64_t count = 0;
  while (count < most && layers.hasTensors((prefix + Twine(count) + ".").str()))
    ++count;
  return count;
}

LinearBlock OpenNMTNetwork::linearOf(const std::string &name,
                                     int64_t outputs) const {
  return {name, outputs, has(name + ".bias")};
}

Value OpenNMTNetwork::norm(Value input, const std::string &name) {
  return blocks().norm(input, {name, options.epsilon, options.norm,
                               options.norm == NormKind::Layer});
}

Value OpenNMTNetwork::embed(Value ids, StringRef scope,
                            const TableBlock &table) {
  float scale = options.addsPositions ? float(std::sqrt(double(width))) : 1.0f;
  Value x = layers.embedding(ids, blocks().table(table), scale);
  std::optional<int64_t> rows = countPositions(scope);
  if (!rows)
    return x;
  Value positions = layers.weight({embeddingsOf(scope, "pe.pe"),
                                   {*rows, width},
                                   /*transposed=*/false,
                                   {*rows, 1, width}});
  return layers.learnedPositions(x, positions, /*offset=*/0);
}

Value OpenNMTNetwork::attention(Value input, Value memory, Value mask,
                                const std::string &name) {
  int64_t headWidth = std::max<int64_t>(width / options.heads, 1);
  int64_t keys = options.kvHeads > 0 ? options.kvHeads * headWidth : width;
  AttentionBlock block{name,
                       linearOf(name + ".linear_query", width),
                       linearOf(name + ".linear_keys", keys),
                       linearOf(name + ".linear_values", keys),
                       linearOf(name + ".final_linear", width),
                       options.heads,
                       options.kvHeads};
  block.mask = mask;
  if (options.rotary && !memory) {
    const OpenNMTOptions::Rotary &rotary = *options.rotary;
    int64_t turned = rotary.width ? rotary.width : headWidth;
    // OpenNMT-py turns pairs of neighbours of whole heads.
    int64_t least = rotary.hasNeighbours ? headWidth : 2;
    if (turned % 2 != 0 || turned > headWidth || turned < least) {
      layers.fail("the model turns " + Twine(turned) +
                  " elements of a head, expected an even number " +
                  (rotary.hasNeighbours ? "that is" : "of at most") + " " +
                  Twine(headWidth));
    } else {
      block.rotary = layers.rotaryFrequencies({rotary.base, turned / 2});
      if (rotary.hasNeighbours)
        block.query.pairs = block.key.pairs = {headWidth, turned / 2};
    }
  }
  if (options.isAlibi && !memory)
    block.slopes = layers.alibiSlopes(options.heads);
  return blocks().attention(input, memory, block);
}

Value OpenNMTNetwork::ffn(Value input, const std::string &name) {
  FfnBlock block{linearOf(name + ".w_1", ffnWidth),
                 linearOf(name + ".w_2", width), options.activation};
  if (options.isGated)
    block.gate = linearOf(name + ".w_3", ffnWidth);
  return blocks().ffn(input, block);
}

Value OpenNMTNetwork::encoderLayer(Value input, Value mask,
                                   const std::string &name) {
  Value normed = norm(input, name + ".layer_norm");
  Value x = layers.add(
      input, attention(normed, /*memory=*/Value(), mask, name + ".self_attn"));
  std::string last = name + ".feed_forward";
  return layers.add(
      x,
      ffn(options.isParallel ? normed : norm(x, last + ".layer_norm"), last));
}

Value OpenNMTNetwork::decoderLayer(Value input, Value mask,
                                   const Memory &memory,
                                   const std::string &name) {
  Value normed = norm(input, name + ".layer_norm_1");
  Value x = layers.add(
      input, attention(normed, /*memory=*/Value(), mask, name + ".self_attn"));
  Value query = options.isParallel ? normed : norm(x, name + ".layer_norm_2");
  x = layers.add(
      x, attention(query, memory.states, memory.mask, name + ".context_attn"));
  std::string last = name + ".feed_forward";
  return layers.add(
      x,
      ffn(options.isParallel ? normed : norm(x, last + ".layer_norm"), last));
}

void OpenNMTNetwork::build() {
  auto nameOf = [](StringRef prefix, int64_t index) {
    return (prefix + Twine(index)).str();
  };
  auto arguments = layers.beginEncode(width);
  Value mask = layers.paddingMask(arguments[1]);
  Value x = embed(arguments[0], "encoder", source);
  for (int64_t i = 0, depth = countLayers(kEncoderLayers); i < depth; ++i)
    x = encoderLayer(x, mask, nameOf(kEncoderLayers, i));
  layers.endFunction(norm(x, "encoder.layer_norm"));

  arguments = layers.beginDecode(width, output.rows);
  Value causal = layers.causalMask();
  Memory memory{arguments[1], layers.paddingMask(arguments[2])};
  x = embed(arguments[0], "decoder", target);
  for (int64_t i = 0, depth = countLayers(kDecoderLayers); i < depth; ++i)
    x = decoderLayer(x, causal, memory, nameOf(kDecoderLayers, i));
  Value bias = layers.weight(
      {outputBias, {output.rows}, /*transposed=*/false, {output.rows}});
  layers.endFunction(blocks().logits(norm(x, "decoder.layer_norm"), output,
                                     /*isTied=*/options.sharesOutput, bias));
}

} // namespace heddle
