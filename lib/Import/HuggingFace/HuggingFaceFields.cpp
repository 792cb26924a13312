//===- HuggingFaceFields.cpp - What transformers reads --------------------===//
//
// The lists themselves, grouped by reason, and the checks over them. A field
// that is null is absent for all of these lists.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace heddle {

//===----------------------------------------------------------------------===//
// Fields without effect
//===----------------------------------------------------------------------===//

/// Dropout and layer drop are of training; the deviation is that of weights
/// that a file lacks.
static constexpr StringLiteral kTraining[] = {
    "activation_dropout",  "attention_dropout", "attention_probs_dropout_prob",
    "classifier_dropout",  "decoder_layerdrop", "dropout",
    "dropout_rate",        "encoder_layerdrop", "gradient_checkpointing",
    "hidden_dropout_prob", "init_std",          "initializer_factor",
    "initializer_range",
};

/// Labels and losses of classifiers, in all configurations by default.
static constexpr StringLiteral kOtherTasks[] = {
    "finetuning_task", "id2label", "label2id", "num_labels", "problem_type",
};

/// Where files are from, in which type and with which kernels the library
/// computes, what its functions return. The cache of `num_hidden_layers` takes
/// that many layers at first, and grows.
static constexpr StringLiteral kLibrary[] = {
    "_attn_implementation",
    "_commit_hash",
    "_from_model_config",
    "_name_or_path",
    "attn_implementation",
    "cache_config",
    "cache_implementation",
    "compile_config",
    "disable_compile",
    "dtype",
    "name_or_path",
    "num_hidden_layers",
    "onnx_export",
    "output_attentions",
    "output_hidden_states",
    "output_logits",
    "output_scores",
    "return_dict",
    "return_dict_in_generate",
    "return_legacy_cache",
    "sep_token_id",
    "tf_legacy_loss",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_bfloat16",
    "use_cache",
};

/// Assisted generation guesses tokens and keeps those that greedy search would
/// have chosen; with beams it does not run.
static constexpr StringLiteral kAssistants[] = {
    "assistant_confidence_threshold",
    "assistant_early_exit",
    "assistant_lookbehind",
    "is_assistant",
    "max_matching_ngram_size",
    "num_assistant_tokens",
    "num_assistant_tokens_schedule",
    "prompt_lookup_num_tokens",
    "target_lookbehind",
};

/// `pipeline` applies them; from_pretrained and `generate` do not.
static constexpr StringLiteral kPipelines[] = {"prefix",
                                               "task_specific_params"};

/// PretrainedConfig knows the first four, but these five classes do not look at
/// them; transformers 2 to 4.5 read the others, which now hold always
/// (output_past, add_bias_logits) or under another name (eos_token_ids is
/// eos_token_id, classif_dropout is classifier_dropout).
static constexpr StringLiteral kUnreadFields[] = {
    "add_cross_attention",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "directionality",
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "is_decoder",
    "_attn_implementation_autoset",
    "_num_labels",
    "add_bias_logits",
    "classif_dropout",
    "eos_token_ids",
    "output_past",
};

/// Settings of `generate` that 4.57.6 does not look at: contrastive and group
/// beam search left it (their switches are below), forced_decoder_ids is read
/// by Whisper alone, top_h by later releases.
static constexpr StringLiteral kUnreadSettings[] = {
    "diversity_penalty",
    "forced_decoder_ids",
    "low_memory",
    "top_h",
};

namespace {
struct FieldGroup {
  ArrayRef<StringLiteral> fields;
  /// Behind "'FILE' has fields "; empty if nothing is to be said, since
  /// every file has these fields.
  StringLiteral reason = "";
};
} // namespace

static ArrayRef<FieldGroup> getGroups() {
  static const FieldGroup groups[] = {
      {kTraining},
      {kOtherTasks},
      {kLibrary},
      {kAssistants, "that guess tokens ahead, for speed alone"},
      {kPipelines, "for pipelines, which 'generate' does not read"},
      {kUnreadFields, "that its class does not read in transformers 4.57.6"},
      {kUnreadSettings,
       "that 'generate' does not read in transformers 4.57.6"}};
  return groups;
}

//===----------------------------------------------------------------------===//
// Fields with an effect that Heddle lacks
//===----------------------------------------------------------------------===//

/// Weights in another form, or of another name.
static void refuseOtherWeights(ConfigReader &config) {
  config.require("quantization_config", {});
  config.require("transformers_weights", {});
}

/// Keys and values that a cache forgets.
static void refuseForgetting(ConfigReader &config, int64_t maxPositions) {
  // DynamicCache looks at these four in any configuration and forgets keys and
  // values, also those of cross-attention, beyond the window; only a window
  // behind the last position forgets none.
  for (StringRef field : {"sliding_window", "attention_chunk_size"}) {
    const json::Value *value = config.readNonNull(field);
    std::optional<double> window = value ? value->getAsNumber() : std::nullopt;
    if (value && !(window && (*window == 0 || *window > maxPositions)))
      config.fail(field, "null, or more than " + Twine(maxPositions));
  }
  if (const json::Value *types = config.readNonNull("layer_types")) {
    const json::Array *list = types->getAsArray();
    if (!list || any_of(*list, [](const json::Value &type) {
          return type != json::Value("full_attention");
        }))
      config.fail("layer_types", "null, a list of \"full_attention\"");
  }
  config.require("num_kv_shared_layers", {0});
}

void refuseUnsupportedNetwork(ConfigReader &config, int64_t maxPositions) {
  // Another network if it is false, and none if it ties the sides.
  config.require("is_encoder_decoder", {true});
  config.require("tie_encoder_decoder", {false});
  config.require("pruned_heads", {json::Object()});
  refuseOtherWeights(config);
  refuseForgetting(config, maxPositions);
}

void refuseUnsupportedDecoder(ConfigReader &config, int64_t maxPositions) {
  config.require("is_encoder_decoder", {false});
  config.require("add_cross_attention", {false});
  config.require("pruned_heads", {json::Object()});
  constexpr StringLiteral unread[] = {"is_decoder", "tie_encoder_decoder"};
  config.ignore(unread);
  refuseOtherWeights(config);
  refuseForgetting(config, maxPositions);
}

void refuseUnsupportedEncoder(ConfigReader &config, bool mayDecode) {
  // A decoder's mask is causal, and it reads another model's states.
  config.require("is_decoder", {false});
  if (mayDecode)
    config.require("add_cross_attention", {false});
  const json::Value *pruned = config.readNonNull("pruned_heads");
  const json::Object *layers = pruned ? pruned->getAsObject() : nullptr;
  bool prunesNone = !pruned || (layers && all_of(*layers, [](auto &layer) {
                                  const json::Array *heads =
                                      layer.second.getAsArray();
                                  return heads && heads->empty();
                                }));
  if (!prunesNone)
    config.fail("pruned_heads", "{}");
  // The classes do not look at these.
  constexpr StringLiteral unread[] = {
      "add_cross_attention", "is_encoder_decoder", "tie_encoder_decoder"};
  config.ignore(unread);
  refuseOtherWeights(config);
}

/// Whether a number is in a range; what is no number may mean anything.
static bool isBetween(const json::Value &value, double low, double high) {
  std::optional<double> number = value.getAsNumber();
  return !number || (*number > low && *number < high);
}

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// A setting that changes what is generated if `changes` is true of its
/// value, as the code of `generate` decides.
struct UnsupportedSetting {
  StringLiteral name, supported;
  bool (*changes)(const json::Value &value, SearchKind kind) =
      [](const json::Value &, SearchKind) { return true; };
  /// Whether it is one of LogitsWarpers, which only samples have.
  bool isOfSamples = false;
};
} // namespace

static ArrayRef<UnsupportedSetting> getUnsupportedSettings() {
  static const auto isTrue = [](const json::Value &value, SearchKind) {
    if (std::optional<double> number = value.getAsNumber())
      return *number != 0;
    return value.getAsBoolean().value_or(true);
  };
  static const auto isPositive = [](const json::Value &value, SearchKind) {
    return isBetween(value, 0, kInfinity);
  };
  static const auto isNotOne = [](const json::Value &value, SearchKind) {
    return value.getAsNumber() != 1;
  };
  static const auto isFraction = [](const json::Value &value, SearchKind) {
    return isBetween(value, 0, 1);
  };
  static const auto hasOneBeam = [](const json::Value &, SearchKind kind) {
    return kind.beams == 1;
  };
  static const UnsupportedSetting settings[] = {
      {"constraints", "null"},
      {"dola_layers", "null", hasOneBeam},
      {"encoder_no_repeat_ngram_size", "0", isPositive},
      {"encoder_repetition_penalty", "1", isNotOne},
      {"epsilon_cutoff", "0", isFraction, /*isOfSamples=*/true},
      {"eta_cutoff", "0", isFraction, /*isOfSamples=*/true},
      {"exponential_decay_length_penalty", "null"},
      {"force_words_ids", "null"},
      {"guidance_scale", "1", isNotOne},
      {"max_time", "null"},
      // Groups of the only beam are none.
      {"num_beam_groups", "1",
       [](const json::Value &value, SearchKind kind) {
         return kind.beams > 1 && isBetween(value, 1, kInfinity);
       }},
      // Contrastive search: greedy search alone becomes it.
      {"penalty_alpha", "0",
       [](const json::Value &value, SearchKind kind) {
         return kind.beams == 1 && !kind.samples &&
                isBetween(value, 0, kInfinity);
       }},
      // With one beam transformers fails, with more it does not look.
      {"prefill_chunk_size", "null", hasOneBeam},
      {"remove_invalid_values", "false", isTrue},
      {"sequence_bias", "null"},
      {"stop_strings", "null"},
      {"token_healing", "false", isTrue},
      {"typical_p", "1",
       [](const json::Value &value, SearchKind) {
         return isBetween(value, -kInfinity, 1);
       },
       /*isOfSamples=*/true},
      {"watermarking_config", "null"}};
  return settings;
}

void refuseUnsupportedSettings(ConfigReader &file, SearchKind kind) {
  for (const UnsupportedSetting &setting : getUnsupportedSettings()) {
    const json::Value *value = file.readNonNull(setting.name);
    if (!value || !setting.changes(*value, kind))
      continue;
    if (setting.isOfSamples && !kind.samples)
      file.warn(setting.name, "which heddle-run --sample does not support");
    else
      file.fail(setting.name, setting.supported);
  }
}

std::vector<StringRef> listUnsupportedSettings() {
  std::vector<StringRef> names;
  for (const UnsupportedSetting &setting : getUnsupportedSettings())
    names.push_back(setting.name);
  return names;
}

void refuseArguments(ConfigReader &generation) {
  for (StringRef name :
       {"assistant_model", "logits_processor", "negative_prompt_attention_mask",
        "negative_prompt_ids", "prefix_allowed_tokens_fn", "stopping_criteria",
        "streamer", "synced_gpus", "use_model_defaults"})
    if (generation.read(name))
      generation.fail(name, "only as an argument of 'generate'");
}

//===----------------------------------------------------------------------===//
// What --explain says
//===----------------------------------------------------------------------===//

void ignoreKnownFields(ConfigReader &file) {
  for (const FieldGroup &group : getGroups())
    file.ignore(group.fields);
  for (const UnsupportedSetting &setting : getUnsupportedSettings())
    file.read(setting.name);
}

/// "'FILE' has fields REASON: 'a', 'b'".
static std::string describe(const ConfigReader &file,
                            ArrayRef<StringRef> fields, StringRef reason) {
  auto quote = [](StringRef field) { return ("'" + field + "'").str(); };
  return ("'" + file.getPath() + "' has fields " + reason + ": " +
          join(map_range(fields, quote), ", "))
      .str();
}

std::vector<std::string> describeFieldsWithoutEffect(ConfigReader &file) {
  std::vector<std::string> remarks;
  for (const FieldGroup &group : getGroups()) {
    SmallVector<StringRef> present;
    for (StringRef field : group.fields)
      if (!group.reason.empty() && file.readNonNull(field))
        present.push_back(field);
    if (!present.empty())
      remarks.push_back(describe(file, present, group.reason));
  }
  std::vector<StringRef> unread = file.getUnread();
  if (!unread.empty())
    remarks.push_back(
        describe(file, unread, "that transformers 4.57.6 does not know"));
  return remarks;
}

} // namespace heddle
