//===- ModernBert.cpp - ModernBERT ----------------------------------------===//
//
// ModernBertModel (arXiv:2412.13663): norms in front of sublayers, a gated ffn,
// rotary positions. Every third layer attends to all tokens, the others to
// those nearby and with another base. The first layer has no norm in front of
// its attention: the embeddings have one.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"

using namespace mlir;
using namespace heddle;

namespace {
/// What the class says beyond EncoderConfig.
struct Form {
  /// Of layers that attend to all tokens, and of the others.
  double globalBase, localBase;
  /// By layer: whether it attends to all tokens; how far the others see.
  SmallVector<bool> areGlobal;
  int64_t reach;
  bool hasAttentionBias, hasFfnBias, hasNormBias;
  /// Of heads.
  bool hasHeadBias, hasDecoderBias;
  std::optional<ActivationKind> headActivation;
  Pooling pooling;
};

/// Writes the layers.
class Layers {
public:
  Layers(EncoderImport &import, const Form &form, Value lengths)
      : import(import), config(import.getConfig()), form(form),
        blocks(import.getBlocks()),
        all(import.getLayers().paddingMask(lengths)) {
    LayerBuilder &layers = import.getLayers();
    near = layers.both(layers.windowMask(form.reach, form.reach), all);
  }

  Value add(Value x, int64_t number);
  Value norm(Value x, const std::string &name) {
    return blocks.norm(x, {import.nameOf(name), config.epsilon, NormKind::Layer,
                           form.hasNormBias});
  }

private:
  AttentionBlock attention(const std::string &name, bool isGlobal);
  FfnBlock ffn(const std::string &name) const;

  EncoderImport &import;
  const EncoderConfig &config;
  const Form &form;
  Blocks blocks;
  Value all, near;
};
} // namespace

/// One of so many layers attends to all tokens; or `layer_types`, which
/// transformers 5 writes beside the default of this number.
static void readLayerTypes(ConfigReader &config, int64_t depth, Form &form) {
  int64_t period = config.size("global_attn_every_n_layers", 3, 1, kMaxDepth);
  for (int64_t layer = 0; layer < depth; ++layer)
    form.areGlobal.push_back(layer % period == 0);
  constexpr llvm::StringLiteral field = "layer_types";
  const llvm::json::Value *value = config.readNonNull(field);
  if (!value)
    return;
  SmallVector<bool> areGlobal;
  if (const llvm::json::Array *types = value->getAsArray())
    for (const llvm::json::Value &each : *types)
      if (auto type = each.getAsString();
          type == "full_attention" || type == "sliding_attention")
        areGlobal.push_back(type == "full_attention");
  if (int64_t(areGlobal.size()) != depth)
    return config.fail(field, "null, one of \"full_attention\" and "
                              "\"sliding_attention\" for each layer");
  if (areGlobal != form.areGlobal)
    config.warnOfRead(field);
  form.areGlobal = areGlobal;
}

/// The base of `rope_parameters`, by the type of layers, which transformers 5
/// writes in place of a field of its own. Whether it is another.
static bool readBase(ConfigReader &config, llvm::StringRef own,
                     llvm::StringRef type, double &base) {
  const llvm::json::Value *value = config.readNonNull("rope_parameters");
  const llvm::json::Object *all = value ? value->getAsObject() : nullptr;
  const llvm::json::Object *ours = all ? all->getObject(type) : nullptr;
  if (!ours || config.read(own))
    return false;
  double usual = base;
  base = ours->getNumber("rope_theta").value_or(usual);
  auto kind = ours->getString("rope_type");
  if (kind.value_or("default") != "default" || !(base > 1 && base <= 1e12))
    config.fail("rope_parameters", "a 'rope_theta' above 1 and the 'rope_type' "
                                   "default for '" +
                                       type + "'");
  return base != usual;
}

static Form readForm(ConfigReader &config, int64_t depth) {
  Form form;
  readLayerTypes(config, depth, form);
  form.globalBase = config.number("global_rope_theta", 160000, 1.0001, 1e12);
  form.localBase = config.number("local_rope_theta", 10000, 1.0001, 1e12);
  if (const llvm::json::Value *base = config.read("local_rope_theta");
      base && base->getAsNull())
    form.localBase = form.globalBase;
  bool isGlobalOther = readBase(config, "global_rope_theta", "full_attention",
                                form.globalBase),
       isLocalOther = readBase(config, "local_rope_theta", "sliding_attention",
                               form.localBase);
  if (isGlobalOther || isLocalOther)
    config.warnOfRead("rope_parameters");
  form.reach = config.size("local_attention", 128, 1, kMaxWidth) / 2;
  form.hasAttentionBias = config.truth("attention_bias", false);
  form.hasFfnBias = config.truth("mlp_bias", false);
  form.hasNormBias = config.truth("norm_bias", false);
  form.hasHeadBias = config.truth("classifier_bias", false);
  form.hasDecoderBias = config.truth("decoder_bias", true);
  form.headActivation = readActivation(config, "classifier_activation", "gelu");
  config.require("classifier_pooling", {"cls", "mean"});
  form.pooling = config.text("classifier_pooling", "cls") == "mean"
                     ? Pooling::Mean
                     : Pooling::Cls;
  config.require("rope_scaling", {});
  config.require("partial_rotary_factor", {1.0});
  return form;
}

/// One matrix has the rows of queries, keys and values.
AttentionBlock Layers::attention(const std::string &name, bool isGlobal) {
  int64_t width = config.width;
  auto part = [&](int64_t first) {
    return LinearBlock{name + ".Wqkv", width, form.hasAttentionBias,
                       RowsOfTensor{first, 3 * width}};
  };
  AttentionBlock block{name,
                       part(0),
                       part(width),
                       part(2 * width),
                       {name + ".Wo", width, form.hasAttentionBias},
                       config.heads};
  block.mask = isGlobal ? all : near;
  block.rotary = import.getLayers().rotaryFrequencies(
      {isGlobal ? form.globalBase : form.localBase, width / config.heads / 2});
  return block;
}

/// One matrix has the rows of what is activated, and then those of the gate.
FfnBlock Layers::ffn(const std::string &name) const {
  int64_t width = config.ffnWidth;
  auto part = [&](int64_t first) {
    return LinearBlock{name + ".Wi", width, form.hasFfnBias,
                       RowsOfTensor{first, 2 * width}};
  };
  FfnBlock block{part(0),
                 {name + ".Wo", config.width, form.hasFfnBias},
                 config.activation};
  block.gate = part(width);
  return block;
}

Value Layers::add(Value x, int64_t number) {
  LayerBuilder &layers = import.getLayers();
  std::string name = "layers." + std::to_string(number) + ".";
  Value y = number == 0 ? x : norm(x, name + "attn_norm");
  x = layers.add(x, blocks.attention(y, /*memory=*/Value(),
                                     attention(import.nameOf(name + "attn"),
                                               form.areGlobal[number])));
  y = norm(x, name + "mlp_norm");
  return layers.add(x, blocks.ffn(y, ffn(import.nameOf(name + "mlp"))));
}

/// All heads begin alike.
static EncoderHeads headsOf(const EncoderImport &import, const Form &form) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"head.dense", config.width, form.hasHeadBias},
                form.headActivation,
                NormBlock{"head.norm", config.epsilon, NormKind::Layer,
                          form.hasNormBias}};
  heads.classify = heads.tag = heads.answer = heads.fill;
  heads.answerer = "classifier";
  heads.pooling = form.pooling;
  heads.words = import.nameOf("embeddings.tok_embeddings.weight");
  heads.untiedWords = "decoder.weight";
  if (form.hasDecoderBias)
    heads.fillBiases = {"decoder.bias"};
  return heads;
}

static llvm::Expected<ImportedModel>
importModernBert(HuggingFaceFolder &folder) {
  EncoderFamily modern;
  modern.modelType = "modernbert";
  modern.prefix = "model";
  modern.tokenizerClass = "PreTrainedTokenizerFast";
  modern.vocabulary = 50368;
  EncoderFields &fields = modern.fields;
  fields.depth.byDefault = 22;
  fields.ffnWidth.byDefault = 1152;
  fields.positions.byDefault = 8192;
  fields.activation = "hidden_activation";
  fields.epsilon = "norm_eps";
  fields.usualEpsilon = 1e-5;
  fields.readsPositionKind = false;
  Form form;
  modern.heads = [&](const EncoderImport &import) {
    return headsOf(import, form);
  };
  auto encoder = EncoderImport::begin(folder, modern);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  const EncoderConfig &config = import.getConfig();
  form = readForm(folder.config, config.depth);
  if (config.width / config.heads % 2 != 0) {
    folder.config.fail("num_attention_heads", "heads of an even width");
    return folder.config.takeError();
  }

  EncoderImport::Inputs inputs = import.beginEncode();
  Layers layers(import, form, inputs.lengths);
  Value x =
      layers.norm(import.lookUp(inputs.ids, "embeddings.tok_embeddings.weight",
                                config.vocabulary),
                  "embeddings.norm");
  for (int64_t number = 0; number < config.usedDepth; ++number)
    x = layers.add(x, number);
  return import.finish(config.isWhole ? layers.norm(x, "final_norm") : x);
}

Family heddle::makeFamilyModernBert() {
  return {"modernbert", "ModernBertModel", importModernBert};
}
