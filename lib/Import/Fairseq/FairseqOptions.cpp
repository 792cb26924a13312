//===- FairseqOptions.cpp - What a checkpoint of fairseq says -------------===//
//
// Defaults are those of TransformerConfig, which fairseq takes for what a file
// does not say. Options of training, of data and of other models, of which a
// file has hundreds, are left unread.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Fairseq/FairseqOptions.h"
#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Import/PickledOptions.h"
#include "lib/Support/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

static constexpr int64_t kMostWidth = 1 << 20, kMostLayers = 1 << 10,
                         kMostPositions = 1 << 20;

/// Architectures whose names begin as those of the Transformer do, with another
/// network.
static constexpr StringLiteral kOtherArchitectures[] = {
    "transformer_lm",  "transformer_monotonic", "transformer_pointer_generator",
    "transformer_ulm", "transformer_prefix",    "transformer_from_pretrained"};

/// Options that must be false, or 0.
static constexpr StringLiteral kMustBeOff[] = {"adaptive_input",
                                               "base_layers",
                                               "char_inputs",
                                               "cross_self_attention",
                                               "layer_wise_attention",
                                               "moe_freq",
                                               "no_cross_attention",
                                               "quant_noise_pq",
                                               "quant_noise_scalar",
                                               "scale_attn",
                                               "scale_fc",
                                               "scale_heads",
                                               "scale_resids",
                                               "tie_adaptive_proj",
                                               "tie_adaptive_weights"};

/// Options that must be none.
static constexpr StringLiteral kMustBeNone[] = {
    "adaptive_softmax_cutoff", "decoder_layers_to_keep",
    "decoder_xformers_att_config", "encoder_layers_to_keep",
    "encoder_xformers_att_config"};

/// Puts the fields of a group among those of the model: "layers" of "encoder"
/// becomes "encoder_layers".
static void flatten(json::Object &fields, StringRef group) {
  json::Object *inner = fields.getObject(group);
  if (!inner)
    return;
  json::Object moved = std::move(*inner);
  fields.erase(group);
  for (auto &[name, value] : moved)
    fields[(group + "_" + StringRef(name)).str()] = std::move(value);
}

/// A group of `cfg`; empty if there is none.
static json::Object takeGroup(json::Object &options, StringRef name) {
  json::Object *group = options.getObject(name);
  return group ? std::move(*group) : json::Object();
}

/// The fields that count: those of the model, and of its task if they are not
/// among them.
static Expected<json::Object> readFields(const PickleValue &root,
                                         StringRef path) {
  std::optional<json::Object> args, cfg;
  if (const PickleValue *value = root.find("args"))
    args = readPickledOptions(*value);
  if (const PickleValue *value = root.find("cfg"))
    cfg = readPickledOptions(*value);
  // fairseq converts `args` only if there is no `cfg`.
  if (!cfg) {
    if (args)
      return std::move(*args);
    return makeError("'" + path +
                     "' has no options: neither 'args', a Namespace, nor "
                     "'cfg', a dictionary");
  }
  json::Object fields = takeGroup(*cfg, "model"),
               task = takeGroup(*cfg, "task");
  if (fields.empty())
    return makeError("'" + path + "' has no options of a model in 'cfg'");
  for (StringRef group : {"encoder", "decoder", "quant_noise"})
    flatten(fields, group);
  // `_name` of a group says what it is of.
  if (json::Value *name = fields.get("_name"); name && !fields.get("arch"))
    fields["arch"] = std::move(*name);
  if (json::Value *name = task.get("_name"))
    task["task"] = std::move(*name);
  for (StringRef name : {"task", "source_lang", "target_lang"})
    if (json::Value *value = task.get(name))
      fields[name] = std::move(*value);
  return fields;
}

static bool isTransformer(StringRef architecture) {
  return architecture.starts_with("transformer") &&
         none_of(kOtherArchitectures, [&](StringRef other) {
           return architecture.starts_with(other);
         });
}

/// By the names of fairseq's get_activation_fn.
static std::optional<ActivationKind> readActivation(ConfigReader &config) {
  std::string name = config.text("activation_fn", "relu");
  if (name == "linear")
    return std::nullopt;
  auto kind =
      StringSwitch<std::optional<ActivationKind>>(name)
          .Case("relu", ActivationKind::Relu)
          .Case("gelu", ActivationKind::Gelu)
          .Cases({"gelu_fast", "gelu_accurate"}, ActivationKind::GeluTanh)
          .Case("tanh", ActivationKind::Tanh)
          .Case("swish", ActivationKind::Silu)
          .Default(std::nullopt);
  if (!kind)
    config.fail("activation_fn", "relu, gelu, gelu_accurate, gelu_fast, tanh, "
                                 "linear");
  return kind;
}

static FairseqSide readSide(ConfigReader &config, StringRef scope,
                            StringRef positions) {
  auto nameOf = [&](StringRef option) { return (scope + option).str(); };
  auto size = [&](StringRef option, int64_t byDefault, int64_t most) {
    return config.integer(nameOf(option), byDefault, 1, most);
  };
  FairseqSide side;
  side.scope = scope.str();
  side.width = size("_embed_dim", 512, kMostWidth);
  side.ffn = size("_ffn_embed_dim", 2048, kMostWidth);
  side.depth = size("_layers", 6, kMostLayers);
  side.heads = size("_attention_heads", 8, kMostWidth);
  side.positions = config.integer(positions, 1024, 1, kMostPositions);
  side.isPreNorm = config.truth(nameOf("_normalize_before"), false);
  side.learnsPositions = config.truth(nameOf("_learned_pos"), false);
  side.hasFinalNorm = side.isPreNorm;
  if (side.width % side.heads != 0)
    config.fail(nameOf("_attention_heads"),
                "divisors of the width " + Twine(side.width));
  return side;
}

/// A language; it becomes a part of a file's name.
static std::string readLanguage(ConfigReader &config, StringRef field) {
  std::string language = config.text(field, "");
  if (language.empty())
    config.fail(field, "the language that names a dictionary");
  else if (StringRef(language).contains('/'))
    config.fail(field, "names without '/'");
  return language;
}

Expected<FairseqOptions> readFairseqOptions(const PickleValue &root,
                                            StringRef path) {
  Expected<json::Object> fields = readFields(root, path);
  if (!fields)
    return fields.takeError();
  ConfigReader config(std::move(*fields), path);
  std::string architecture = config.text("arch", "transformer");
  if (!isTransformer(architecture))
    config.fail("arch", "transformer, transformer_wmt_en_de_big and others of "
                        "the Transformer");
  config.require("task", {"translation"});
  for (StringRef option : kMustBeOff)
    config.require(option, {false, 0});
  for (StringRef option : kMustBeNone)
    config.require(option, {});

  FairseqOptions options;
  options.encoder = readSide(config, "encoder", "max_source_positions");
  options.decoder = readSide(config, "decoder", "max_target_positions");
  if (config.truth("no_decoder_final_norm", false))
    options.decoder.hasFinalNorm = false;
  options.activation = readActivation(config);
  int64_t width = options.decoder.width;
  if (config.integer("decoder_input_dim", width, 1, kMostWidth) != width)
    config.fail("decoder_input_dim", "decoder_embed_dim, " + Twine(width));
  options.outputWidth =
      config.integer("decoder_output_dim", width, 1, kMostWidth);
  options.sharesAll = config.truth("share_all_embeddings", false);
  options.sharesOutput =
      config.truth("share_decoder_input_output_embed", false) ||
      options.sharesAll;
  if (options.sharesAll && options.encoder.width != width)
    config.fail("share_all_embeddings",
                "false, since both sides have widths of their own");
  if (options.sharesOutput && options.outputWidth != width)
    config.fail("decoder_output_dim", "decoder_embed_dim, " + Twine(width) +
                                          ", of a table that both share");
  options.scalesEmbeddings = !config.truth("no_scale_embedding", false);
  options.normsEmbeddings = config.truth("layernorm_embedding", false);
  options.hasPositions = !config.truth("no_token_positional_embeddings", false);
  options.source = readLanguage(config, "source_lang");
  options.target = readLanguage(config, "target_lang");
  if (Error error = config.takeError())
    return std::move(error);
  return options;
}

} // namespace heddle
