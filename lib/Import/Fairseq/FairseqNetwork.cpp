//===- FairseqNetwork.cpp - The layers of fairseq's Transformer -----------===//
//
// Attention Is All You Need (arXiv:1706.03762), with norms behind sublayers or
// in front of them. Positions count from behind the id of padding: the first
// token of a text is in the row padding + 1, of a table that is stored or
// computed. Attention's queries are scaled there, scores here.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Fairseq/FairseqNetwork.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

static constexpr float kEpsilon = 1e-5f;

static constexpr StringLiteral kOutput = "decoder.output_projection.weight",
                               kOlderOutput = "decoder.embed_out",
                               kSourceTable = "encoder.embed_tokens.weight",
                               kTargetTable = "decoder.embed_tokens.weight";

FairseqNetwork::FairseqNetwork(LayerBuilder &layers,
                               const FairseqOptions &options,
                               const Vocabularies &vocabularies)
    : layers(layers), options(options), pad(vocabularies.pad) {
  // Of a table with several names the one counts that fairseq loads last.
  StringRef outputName = layers.find(kOutput)   ? kOutput
                         : options.sharesOutput ? kTargetTable
                                                : kOlderOutput;
  output = {outputName.str(), vocabularies.target, options.outputWidth};
  target = {kTargetTable.str(), vocabularies.target, options.decoder.width};
  source = {kSourceTable.str(), vocabularies.source, options.encoder.width};
  if (options.sharesOutput)
    target.name = output.name;
  if (options.sharesAll)
    source.name = output.name;
}

/// Whether it is a parameter of an encoder's layer by which fairseq 0.12.2
/// calls a kernel of torch: when a file is loaded it becomes a copy of others.
static bool isCopy(StringRef name) {
  unsigned index;
  if (!name.consume_front("encoder.layers.") ||
      name.consumeInteger(10, index) || !name.consume_front("."))
    return false;
  auto [linear, part] = name.rsplit('_');
  constexpr StringLiteral linears[] = {"in_proj", "out_proj", "fc1", "fc2"};
  return is_contained(linears, linear) && (part == "weight" || part == "bias");
}

bool FairseqNetwork::isUsual(StringRef name) const {
  if (name == kTargetTable)
    return options.sharesOutput;
  if (name == kSourceTable)
    return options.sharesAll;
  if (isCopy(name))
    return true;
  // The third is a table of sinusoids, which early releases stored.
  return name.ends_with(".version") ||
         name.ends_with(".embed_positions._float_tensor") ||
         name.ends_with(".embed_positions.weights");
}

Value FairseqNetwork::linear(Value input, const std::string &name,
                             int64_t width) {
  return blocks().linear(input, {name, width});
}

Value FairseqNetwork::norm(Value input, const std::string &name) {
  return blocks().norm(input, {name, kEpsilon});
}

std::string FairseqNetwork::normName(const std::string &layer, StringRef name,
                                     int64_t older) const {
  std::string old = layer + ".layer_norms." + std::to_string(older);
  return has(old + ".weight") ? old : (layer + "." + name).str();
}

Value FairseqNetwork::positions(Value x, const FairseqSide &side) {
  int64_t rows = side.positions + pad + 1, offset = pad + 1;
  if (side.learnsPositions)
    return layers.learnedPositions(
        x,
        blocks().table(
            {side.scope + ".embed_positions.weight", rows, side.width}),
        offset);
  if (side.width < 4 || side.width % 2 != 0) {
    layers.fail("the width of '" + side.scope + "' is " + Twine(side.width) +
                ", expected an even one of at least 4, since one half of a "
                "position holds sines");
    return x;
  }
  return layers.learnedPositions(x, layers.sinusoidTable(rows, side.width, pad),
                                 offset);
}

Value FairseqNetwork::embed(Value ids, const FairseqSide &side,
                            const TableBlock &table) {
  float scale =
      options.scalesEmbeddings ? float(std::sqrt(double(side.width))) : 1.0f;
  Value x = layers.embedding(ids, blocks().table(table), scale);
  if (options.hasPositions)
    x = positions(x, side);
  return options.normsEmbeddings ? norm(x, side.scope + ".layernorm_embedding")
                                 : x;
}

Value FairseqNetwork::attention(Value input, Value memory, Value mask,
                                const FairseqSide &side,
                                const std::string &name) {
  bool isJoint = has(name + ".in_proj_weight");
  auto project = [&](Value x, const char *part, int64_t index) {
    if (!isJoint)
      return linear(x, name + part, side.width);
    LinearBlock rows{name + ".in_proj", side.width};
    rows.rows = RowsOfTensor{index * side.width, 3 * side.width};
    return Blocks(layers, "_").linear(x, rows);
  };
  Value keys = memory ? memory : input;
  LayerBuilder::Attention attention;
  attention.query = project(input, ".q_proj", 0);
  attention.key = project(keys, ".k_proj", 1);
  attention.value = project(keys, ".v_proj", 2);
  attention.mask = mask;
  attention.heads = side.heads;
  return linear(layers.attention(name, attention), name + ".out_proj",
                side.width);
}

Value FairseqNetwork::sublayer(Value input, const FairseqSide &side,
                               const std::string &normName,
                               llvm::function_ref<Value(Value)> apply) {
  if (side.isPreNorm)
    return layers.add(input, apply(norm(input, normName)));
  return norm(layers.add(input, apply(input)), normName);
}

Value FairseqNetwork::layer(Value input, const FairseqSide &side, int64_t index,
                            Value mask, const Memory &memory) {
  std::string name = side.scope + ".layers." + std::to_string(index);
  Value x = sublayer(input, side, normName(name, "self_attn_layer_norm", 0),
                     [&](Value y) {
                       return attention(y, /*memory=*/Value(), mask, side,
                                        name + ".self_attn");
                     });
  if (memory.states)
    x = sublayer(x, side, normName(name, "encoder_attn_layer_norm", 1),
                 [&](Value y) {
                   return attention(y, memory.states, memory.mask, side,
                                    name + ".encoder_attn");
                 });
  FfnBlock ffn{{name + ".fc1", side.ffn},
               {name + ".fc2", side.width},
               options.activation};
  return sublayer(x, side,
                  normName(name, "final_layer_norm", memory.states ? 2 : 1),
                  [&](Value y) { return blocks().ffn(y, ffn); });
}

Value FairseqNetwork::finish(Value input, const FairseqSide &side) {
  return side.hasFinalNorm ? norm(input, side.scope + ".layer_norm") : input;
}

void FairseqNetwork::build() {
  const FairseqSide &encoder = options.encoder, &decoder = options.decoder;
  auto arguments = layers.beginEncode(encoder.width);
  Value mask = layers.paddingMask(arguments[1]);
  Value x = embed(arguments[0], encoder, source);
  for (int64_t index = 0; index < encoder.depth; ++index)
    x = layer(x, encoder, index, mask, {});
  layers.endFunction(finish(x, encoder));

  arguments = layers.beginDecode(encoder.width, output.rows);
  Value causal = layers.causalMask();
  Memory memory{arguments[1], layers.paddingMask(arguments[2])};
  x = embed(arguments[0], decoder, target);
  for (int64_t index = 0; index < decoder.depth; ++index)
    x = layer(x, decoder, index, causal, memory);
  x = finish(x, decoder);
  if (options.outputWidth != decoder.width)
    x = blocks().linear(x, {"decoder.project_out_dim", options.outputWidth,
                            /*hasBias=*/false});
  layers.endFunction(blocks().logits(x, output, /*isTied=*/options.sharesOutput,
                                     /*bias=*/Value()));
}

} // namespace heddle
