//===- OpenNMTOptions.cpp - What a checkpoint of OpenNMT-py says ----------===//
//
// A default is what a release did that had no such option yet. Options of
// training, of data and of recurrent networks, of which a file has hundreds,
// are left unread.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/OpenNMT/OpenNMTOptions.h"
#include "lib/Import/HuggingFace/ConfigReader.h"
#include "lib/Import/PickledOptions.h"
#include "lib/Support/Error.h"

using namespace llvm;

namespace heddle {

static constexpr int64_t kMostHeads = 1 << 16, kMostWidth = 1 << 20;

/// Options that must be false, 0 or empty.
static constexpr StringLiteral kMustBeOff[] = {
    "copy_attn",     "coverage_attn", "num_experts",
    "n_src_feats",   "quant_layers",  "relative_positions_buckets",
    "sliding_window"};

static ActivationKind readActivation(ConfigReader &config, bool &isGated) {
  struct Function {
    StringLiteral name;
    ActivationKind kind;
    bool isGated;
  };
  constexpr Function functions[] = {{"relu", ActivationKind::Relu, false},
                                    {"gelu", ActivationKind::Gelu, false},
                                    {"silu", ActivationKind::Silu, true},
                                    {"gated-gelu", ActivationKind::Gelu, true}};
  std::string name = config.text("pos_ffn_activation_fn", "relu");
  for (const Function &function : functions)
    if (name == function.name) {
      isGated = function.isGated;
      return function.kind;
    }
  config.fail("pos_ffn_activation_fn", "relu, gelu, silu, gated-gelu");
  isGated = false;
  return ActivationKind::Relu;
}

/// What attention knows of positions.
static void readRelative(ConfigReader &config, OpenNMTOptions &options) {
  constexpr int64_t rotary = -1, alibi = -2;
  int64_t kind = config.integer("max_relative_positions", 0, -2, kMostWidth);
  // Above 0 vectors of distances.
  config.require("max_relative_positions", {0, rotary, alibi});
  options.isAlibi = kind == alibi;
  if (kind == rotary)
    options.rotary = {config.number("rotary_theta", 10000, 1.0001, 1e30),
                      config.integer("rotary_dim", 0, 0, kMostWidth),
                      // Its default where it came.
                      config.truth("rotary_interleave", true)};
}

Expected<OpenNMTOptions> readOpenNMTOptions(const PickleValue &root,
                                            StringRef path) {
  const PickleValue *value = root.find("opt");
  std::optional<json::Object> fields =
      value ? readPickledOptions(*value) : std::nullopt;
  if (!fields)
    return makeError("'" + path + "' has no options 'opt', a Namespace");
  ConfigReader config(std::move(*fields), path);
  config.require("model_type", {"text"});
  config.require("model_task", {"seq2seq"});
  config.require("data_task", {"seq2seq"});
  for (StringRef side : {"encoder_type", "decoder_type"})
    if (config.text(side, "rnn") != "transformer")
      config.fail(side, "transformer");
  config.require("self_attn_type", {"scaled-dot", "scaled-dot-flash"});
  config.require("generator_function", {"softmax"});
  for (StringRef option : kMustBeOff)
    config.require(option, {false, 0, json::Array()});

  OpenNMTOptions options;
  options.heads = config.integer("heads", 8, 1, kMostHeads);
  options.kvHeads = config.integer("num_kv", 0, 0, kMostHeads);
  if (config.truth("multiquery", false))
    options.kvHeads = 1;
  if (options.kvHeads > 0 && options.heads % options.kvHeads != 0)
    config.fail("num_kv", "divisors of heads, " + Twine(options.heads));
  options.activation = readActivation(config, options.isGated);
  std::string norm = config.text("layer_norm", "standard");
  if (norm != "standard" && norm != "rms")
    config.fail("layer_norm", "standard, rms");
  options.norm = norm == "rms" ? NormKind::Rms : NormKind::Layer;
  options.epsilon = float(config.number("norm_eps", 1e-6, 0, 1));
  options.sharesTables = config.truth("share_embeddings", false);
  options.sharesOutput = config.truth("share_decoder_embeddings", false);
  options.addsPositions = config.truth("position_encoding", false);
  options.isParallel = config.truth("parallel_residual", false);
  readRelative(config, options);
  if (Error error = config.takeError())
    return std::move(error);
  return options;
}

} // namespace heddle
