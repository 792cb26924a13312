//===- CTranslate2Network.cpp - The layers of a specification -------------===//
//
// Defaults are those of CTranslate2 4.8.5, which reads a file of any revision
// of a specification: an option that is absent had one value before there was
// an option.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/CTranslate2/CTranslate2Network.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace heddle {

/// By their numbers in the file.
static constexpr ActivationKind kActivations[] = {
    ActivationKind::Relu,   ActivationKind::GeluTanh,  ActivationKind::Silu,
    ActivationKind::Gelu,   ActivationKind::QuickGelu, ActivationKind::Tanh,
    ActivationKind::Sigmoid};

static constexpr int64_t kMostHeads = 1 << 16, kMostDistance = 1 << 16;

/// Of `embeddings_merge`; 0 puts vectors side by side.
static constexpr int64_t kAdded = 1;

/// As many as translate_batch takes of a source.
static constexpr int64_t kComputedPositions = 1024;

/// A switch says sqrt(width) or nothing, a number itself.
static float readScale(CTranslate2Variables &variables,
                       const CTranslate2Side &side) {
  std::string name = side.scope + "/scale_embeddings",
              older = side.scope + "/embeddings/multiply_by_sqrt_depth";
  if (!variables.has(name))
    name = older;
  variables.ignore(older);
  double value = variables.number(name, 1);
  const TensorInfo *variable = variables.find(name);
  if (variable && variable->elementType != "int8")
    return float(value);
  return value != 0 ? std::sqrt(float(side.width)) : 1.0f;
}

static std::string layerName(const CTranslate2Side &side, int64_t index) {
  return side.scope + "/layer_" + std::to_string(index);
}

static std::string typeTable(const CTranslate2Side &side) {
  return side.scope + "/embeddings_1/weight";
}

CTranslate2Side readSide(CTranslate2Variables &variables, StringRef scope,
                         int64_t heads) {
  CTranslate2Side side;
  side.scope = scope.str();
  side.table = side.scope + "/embeddings_0/weight";
  if (!variables.has(side.table))
    side.table = side.scope + "/embeddings/weight";
  std::tie(side.vocabulary, side.width) = variables.matrix(side.table);
  side.table = variables.first(side.table);
  side.depth = 0;
  while (variables.hasAny(layerName(side, side.depth) + "/"))
    ++side.depth;
  side.heads =
      variables.integer(side.scope + "/num_heads", heads, 1, kMostHeads);
  side.isPreNorm = variables.flag(side.scope + "/pre_norm", true);
  int64_t activation = variables.integer(side.scope + "/activation", 0, 0,
                                         std::size(kActivations) - 1);
  side.activation = kActivations[activation];
  side.embeddingScale = readScale(variables, side);
  side.positionTable = side.scope + "/position_encodings/encodings";
  // Encoders do not look at it.
  if (scope == "decoder") {
    side.isAlibi = variables.flag(side.scope + "/alibi", false);
    side.scalesAlibi = variables.flag(side.scope + "/scale_alibi", false);
  } else {
    variables.require(side.scope + "/alibi", 0,
                      "linear biases of positions (ALiBi)");
  }
  // Each score of a query differs by the same.
  variables.ignore(side.scope + "/alibi_use_positive_positions");
  variables.ignore(side.scope + "/scale_alibi");
  std::string attention = layerName(side, 0) + "/self_attention";
  if (variables.has(side.positionTable)) {
    side.positions = variables.matrix(side.positionTable).first;
  } else if (!variables.has(attention + "/rotary_dim") &&
             !variables.has(attention + "/relative_attention_bias") &&
             !side.isAlibi) {
    side.positionTable = "";
    side.positions = kComputedPositions;
  }
  // How the embeddings of several factors are merged.
  std::string merge = side.scope + "/embeddings_merge";
  if (variables.has(typeTable(side))) {
    side.types = variables.matrix(typeTable(side)).first;
    variables.require(merge, kAdded, "factors of tokens that are not added");
  }
  variables.ignore(merge);
  // Each attention says how many heads of keys it has.
  variables.ignore(side.scope + "/multi_query_attention");
  int64_t layers = std::max<int64_t>(side.depth, 1);
  side.alignmentLayer = variables.integer(side.scope + "/alignment_layer", -1,
                                          -layers, layers - 1);
  side.alignedHeads = variables.integer(side.scope + "/alignment_heads", 1, 0,
                                        std::max<int64_t>(side.heads, 1));
  variables.require(side.scope + "/sliding_window", 0, "a window of attention");
  variables.require(side.scope + "/final_logit_softcapping", 0,
                    "a cap of logits");
  side.outputScale = variables.number(side.scope + "/scale_outputs", 1);
  return side;
}

NormBlock CTranslate2Network::normOf(const std::string &name) {
  bool hasBias = variables.has(name + "/beta");
  NormBlock norm{name, hasBias ? epsilons.layer : epsilons.rms,
                 hasBias ? NormKind::Layer : NormKind::Rms, hasBias};
  // CTranslate2 looks at it in norms without a bias.
  norm.addsOne =
      variables.flag(name + "/layer_norm_use_residual", false) && !hasBias;
  return norm;
}

LinearBlock CTranslate2Network::linearOf(const std::string &name,
                                         int64_t width) {
  return {name, width, variables.has(name + "/bias")};
}

Value CTranslate2Network::sublayer(Value input, const CTranslate2Side &side,
                                   const std::string &name,
                                   llvm::function_ref<Value(Value)> apply) {
  NormBlock norm = normOf(name + "/layer_norm");
  if (side.isPreNorm)
    return layers.add(input, apply(blocks().norm(input, norm)));
  return blocks().norm(layers.add(input, apply(input)), norm);
}

void CTranslate2Network::addRotary(const std::string &name, int64_t headWidth,
                                   AttentionBlock &block) {
  if (!variables.has(name + "/rotary_dim"))
    return;
  int64_t width = variables.integer(name + "/rotary_dim", 0, 0, headWidth);
  if (width == 0)
    width = headWidth;
  if (width % 2 != 0)
    variables.fail("'" + name + "' turns " + Twine(width) +
                   " elements of a head, expected an even number");
  if (variables.flag(name + "/rotary_interleave", true) && width % 2 == 0)
    block.query.pairs = block.key.pairs = {headWidth, width / 2};
  LayerBuilder::Rotary rotary{variables.number(name + "/rotary_base", 10000),
                              std::max<int64_t>(width / 2, 1)};
  if (rotary.base <= 1)
    variables.fail("variable '" + name + "/rotary_base' is not above 1");
  variables.require(name + "/rotary_scaling_type", 0,
                    "rotary positions that are scaled otherwise than linearly");
  double factor = variables.number(name + "/rotary_scaling_factor", 1);
  if (factor <= 0)
    variables.fail("variable '" + name + "/rotary_scaling_factor' is not " +
                   "above 0");
  else if (factor != 1 && variables.has(name + "/rotary_scaling_type"))
    rotary.scaling.push_back(factor);
  if (rotary.base > 1)
    block.rotary = layers.rotaryFrequencies(rotary);
}

Value CTranslate2Network::relativeBiases(const CTranslate2Side &side,
                                         const std::string &name) {
  std::string table = name + "/relative_attention_bias";
  if (!variables.has(table))
    return Value();
  int64_t buckets = variables.matrix(table).first;
  table = variables.first(table);
  int64_t far = variables.integer(name + "/relative_attention_max_distance",
                                  128, 1, kMostDistance);
  if (buckets % 4 != 0 || far <= buckets / 2) {
    variables.fail("'" + table + "' has " + Twine(buckets) +
                   " buckets for distances up to " + Twine(far) +
                   ", expected a multiple of 4 below twice as many");
    return Value();
  }
  SmallVector<int64_t, 2> shape = {buckets, side.heads};
  Value &made = biases[table];
  if (!made)
    made = layers.relativeBuckets(
        {table, shape, /*transposed=*/false, shape},
        {buckets, far, /*isCausal=*/side.scope == "decoder"});
  return made;
}

AttentionBlock CTranslate2Network::attentionOf(const CTranslate2Side &side,
                                               const std::string &name,
                                               bool isOfMemory) {
  bool isMultiQuery = variables.flag(name + "/multi_query", false);
  int64_t kvHeads = variables.integer(
      name + "/num_heads_kv", isMultiQuery ? 1 : side.heads, 1, kMostHeads);
  if (side.heads % kvHeads != 0)
    variables.fail("'" + name + "' has " + Twine(kvHeads) +
                   " heads of keys, expected a divisor of " +
                   Twine(side.heads));
  // Without a field the first linear says it: heads of T5 may be of any width.
  int64_t rows = variables.matrix(name + "/linear_0/weight").first;
  int64_t headsOfRows = side.heads + (isOfMemory ? 0 : 2 * kvHeads);
  int64_t headWidth =
      variables.integer(name + "/head_dim", rows / headsOfRows, 0, 1 << 20);
  if (headWidth == 0 ||
      (!variables.has(name + "/head_dim") && rows % headsOfRows != 0)) {
    variables.fail("the model has " + Twine(side.heads) + " heads in '" +
                   side.scope + "', expected a divisor of the " + Twine(rows) +
                   " rows of '" + name + "/linear_0'");
    headWidth = 1;
  }
  variables.require(name + "/sliding_window", 0, "a window of attention");
  int64_t queries = side.heads * headWidth, keys = kvHeads * headWidth;
  // Queries stand in front of keys and values, or in a matrix of their own.
  int64_t first = isOfMemory ? 0 : queries;
  auto rowsOf = [&](const char *linear, int64_t begin, int64_t count) {
    LinearBlock block = linearOf(name + linear, count);
    block.rows = RowsOfTensor{begin, first + 2 * keys};
    return block;
  };
  AttentionBlock block{
      name,
      isOfMemory ? linearOf(name + "/linear_0", queries)
                 : rowsOf("/linear_0", 0, queries),
      rowsOf(isOfMemory ? "/linear_1" : "/linear_0", first, keys),
      rowsOf(isOfMemory ? "/linear_1" : "/linear_0", first + keys, keys),
      linearOf(name + (isOfMemory ? "/linear_2" : "/linear_1"), side.width),
      side.heads};
  if (kvHeads != side.heads)
    block.kvHeads = kvHeads;
  if (std::string scale = name + "/queries_scale"; variables.has(scale))
    block.scale = float(variables.number(scale, 1));
  addRotary(name, headWidth, block);
  block.biases = relativeBiases(side, name);
  if (side.isAlibi && !isOfMemory) {
    float scale = block.scale.value_or(1 / std::sqrt(float(headWidth)));
    block.slopes =
        layers.alibiSlopes(side.heads, side.scalesAlibi ? scale : 1.0f);
  }
  return block;
}

Value CTranslate2Network::attention(Value input, Value memory, Value mask,
                                    const CTranslate2Side &side,
                                    const std::string &name) {
  AttentionBlock block = attentionOf(side, name, bool(memory));
  block.mask = mask;
  return sublayer(input, side, name, [&](Value x) {
    return blocks().attention(x, memory, block);
  });
}

FfnBlock CTranslate2Network::ffnOf(const CTranslate2Side &side,
                                   const std::string &name) {
  std::string up = name + "/linear_0", gate = name + "/linear_0_noact";
  int64_t width = variables.matrix(up + "/weight").first;
  FfnBlock block{linearOf(up, width), linearOf(name + "/linear_1", side.width),
                 side.activation};
  if (variables.has(gate + "/weight"))
    block.gate = linearOf(gate, width);
  return block;
}

Value CTranslate2Network::feedForward(Value input, const CTranslate2Side &side,
                                      const std::string &name) {
  FfnBlock block = ffnOf(side, name);
  return sublayer(input, side, name,
                  [&](Value x) { return blocks().ffn(x, block); });
}

Value CTranslate2Network::parallel(Value input, const CTranslate2Side &side,
                                   const std::string &name, Value mask) {
  std::string shared = name + "/shared_layer_norm";
  bool isShared = hasNorm(shared);
  Value first = blocks().norm(
      input, normOf(isShared ? shared : name + "/input_layer_norm"));
  Value second =
      isShared
          ? first
          : blocks().norm(input, normOf(name + "/post_attention_layer_norm"));
  AttentionBlock block =
      attentionOf(side, name + "/self_attention", /*isOfMemory=*/false);
  block.mask = mask;
  Value attended = blocks().attention(first, /*memory=*/Value(), block);
  Value made = blocks().ffn(second, ffnOf(side, name + "/ffn"));
  return layers.add(layers.add(made, input), attended);
}

Value CTranslate2Network::betweenNorms(Value input, const CTranslate2Side &side,
                                       const std::string &name, Value mask) {
  auto normed = [&](Value x, const char *norm) {
    return blocks().norm(x, normOf(name + norm));
  };
  AttentionBlock block =
      attentionOf(side, name + "/self_attention", /*isOfMemory=*/false);
  block.mask = mask;
  Value attended = blocks().attention(normed(input, "/input_layer_norm"),
                                      /*memory=*/Value(), block);
  Value x = layers.add(input, normed(attended, "/post_attention_layer_norm"));
  Value made = blocks().ffn(normed(x, "/pre_feedforward_layer_norm"),
                            ffnOf(side, name + "/ffn"));
  return layers.add(x, normed(made, "/post_feedforward_layer_norm"));
}

/// Positions that no file has are sinusoids, the first one in row 1.
Value CTranslate2Network::addPositions(Value x, const CTranslate2Side &side) {
  if (!side.positionTable.empty())
    return layers.learnedPositions(
        x, blocks().table({side.positionTable, *side.positions, side.width}),
        /*offset=*/0);
  if (side.width < 4 || side.width % 2 != 0)
    layers.fail("the width of '" + side.scope + "' is " + Twine(side.width) +
                ", expected an even one of at least 4, since one half of a "
                "position holds sines");
  return layers.learnedPositions(
      x, layers.sinusoidTable(*side.positions + 1, side.width, /*pad=*/0),
      /*offset=*/1);
}

Value CTranslate2Network::embed(Value ids, const CTranslate2Side &side,
                                Value types) {
  Value table = blocks().table({side.table, side.vocabulary, side.width});
  Value x = layers.embedding(ids, table, side.embeddingScale);
  if (types)
    x = layers.add(
        x, layers.embedding(
               types, blocks().table({typeTable(side), side.types, side.width}),
               side.embeddingScale));
  if (side.positions)
    x = addPositions(x, side);
  std::string norm = side.scope + "/layernorm_embedding";
  return hasNorm(norm) ? blocks().norm(x, normOf(norm)) : x;
}

Value CTranslate2Network::layer(Value input, const CTranslate2Side &side,
                                int64_t index, const Sources &sources) {
  std::string name = layerName(side, index);
  if (hasNorm(name + "/post_feedforward_layer_norm"))
    return betweenNorms(input, side, name, sources.mask);
  if (hasNorm(name + "/shared_layer_norm") ||
      hasNorm(name + "/input_layer_norm"))
    return parallel(input, side, name, sources.mask);
  Value x = attention(input, /*memory=*/Value(), sources.mask, side,
                      name + "/self_attention");
  if (sources.memory)
    x = attention(x, sources.memory, sources.memoryMask, side,
                  name + "/attention");
  return feedForward(x, side, name + "/ffn");
}

Value CTranslate2Network::finish(Value input, const CTranslate2Side &side) {
  std::string name = side.scope + "/layer_norm";
  if (!hasNorm(name)) {
    variables.require(side.scope + "/scale_outputs", 1,
                      "a factor of a decoder's output without a norm");
    return input;
  }
  NormBlock norm = normOf(name);
  norm.scale = side.outputScale;
  return blocks().norm(input, norm);
}

Value CTranslate2Network::logits(Value states, const CTranslate2Side &side) {
  std::string name = side.scope + "/projection";
  int64_t vocabulary = variables.matrix(name + "/weight").first;
  std::string table = variables.first(name + "/weight");
  Value bias;
  if (variables.has(name + "/bias"))
    bias = layers.weight({name + "/bias",
                          {vocabulary},
                          /*transposed=*/false,
                          {vocabulary}});
  return blocks().logits(states, {table, vocabulary, side.width},
                         /*isTied=*/table == side.table, bias);
}

} // namespace heddle
