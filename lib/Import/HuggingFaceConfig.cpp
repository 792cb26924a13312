//===- HuggingFaceConfig.cpp - config.json of an encoder-decoder ----------===//
//
// See the header. The lists below name the fields of transformers'
// configuration classes, and of older releases, that have no effect on what a
// model computes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceConfig.h"
#include "lib/Weights/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace heddle {

/// Training, provenance, heads of other tasks, settings of the Python library.
static constexpr StringLiteral kIrrelevantFields[] = {
    "_attn_implementation_autoset",
    "_name_or_path",
    "_num_labels",
    "activation_dropout",
    "add_bias_logits",
    "attention_dropout",
    "classif_dropout",
    "classifier_dropout",
    "decoder_layerdrop",
    "dropout",
    "dtype",
    "encoder_layerdrop",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "init_std",
    "label2id",
    "num_hidden_layers",
    "num_labels",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "prefix",
    "problem_type",
    "return_dict",
    "task_specific_params",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_bfloat16",
    "use_cache",
};

/// Bounds that keep a damaged field from becoming an endless import.
static constexpr int64_t kMaxDepth = 256, kMaxWidth = 1 << 20,
                         kMaxVocabulary = 1 << 24;

static HuggingFaceConfig::Architecture readArchitecture(ConfigReader &config) {
  using Architecture = HuggingFaceConfig::Architecture;
  constexpr StringLiteral supported =
      "BartForConditionalGeneration, MarianMTModel";
  std::string type = config.text("model_type", "");
  const json::Value *value = config.readNonNull("architectures");
  if (!value) {
    if (type != "bart" && type != "marian")
      config.fail("architectures", supported);
    return type == "marian" ? Architecture::Marian : Architecture::Bart;
  }
  const json::Array *names = value->getAsArray();
  std::optional<StringRef> name =
      names && names->size() == 1 ? names->front().getAsString() : std::nullopt;
  bool isMarian = name && *name == "MarianMTModel";
  if (!isMarian && (!name || *name != "BartForConditionalGeneration"))
    config.fail("architectures", supported);
  StringRef expectedType = isMarian ? "marian" : "bart";
  if (!type.empty() && type != expectedType)
    config.fail("model_type", expectedType);
  return isMarian ? Architecture::Marian : Architecture::Bart;
}

/// The names of transformers' ACT2FN.
static void readActivation(ConfigReader &config, HuggingFaceConfig &model) {
  std::string name = config.text("activation_function", "gelu");
  if (name == "linear")
    return;
  model.activation = StringSwitch<std::optional<ActivationKind>>(name)
                         .Case("relu", ActivationKind::Relu)
                         .Cases({"gelu", "gelu_python"}, ActivationKind::Gelu)
                         .Cases({"gelu_new", "gelu_fast", "gelu_accurate",
                                 "gelu_pytorch_tanh", "gelu_python_tanh"},
                                ActivationKind::GeluTanh)
                         .Case("quick_gelu", ActivationKind::QuickGelu)
                         .Cases({"silu", "swish"}, ActivationKind::Silu)
                         .Case("tanh", ActivationKind::Tanh)
                         .Case("sigmoid", ActivationKind::Sigmoid)
                         .Default(std::nullopt);
  if (!model.activation)
    config.fail("activation_function",
                "relu, gelu, gelu_python, gelu_new, gelu_fast, gelu_accurate, "
                "gelu_pytorch_tanh, gelu_python_tanh, quick_gelu, silu, swish, "
                "tanh, sigmoid, linear");
}

static HuggingFaceStack readStack(ConfigReader &config, const std::string &side,
                                  int64_t width, int64_t defaultHeads) {
  HuggingFaceStack stack;
  std::string heads = side + "_attention_heads";
  stack.depth = config.integer(side + "_layers", 12, 1, kMaxDepth);
  stack.heads = config.integer(heads, defaultHeads, 1, kMaxWidth);
  stack.ffnWidth = config.integer(side + "_ffn_dim", 4096, 1, kMaxWidth);
  if (width % stack.heads != 0)
    config.fail(heads, "divisors of d_model = " + Twine(width));
  return stack;
}

/// Which of the three tables are one, and how many rows they have.
static void readVocabularies(ConfigReader &config, HuggingFaceConfig &model) {
  bool isMarian = model.architecture == HuggingFaceConfig::Architecture::Marian;
  model.tieWordEmbeddings = config.boolean("tie_word_embeddings", true);
  model.vocabulary =
      config.integer("vocab_size", isMarian ? 58101 : 50265, 1, kMaxVocabulary);
  model.decoderVocabulary = model.vocabulary;
  model.shareEmbeddings = model.tieWordEmbeddings;
  if (!isMarian)
    return;
  model.shareEmbeddings =
      config.boolean("share_encoder_decoder_embeddings", true);
  int64_t size = config.integer("decoder_vocab_size", 0, 0, kMaxVocabulary);
  // transformers ignores the field when the tables are one, and builds the
  // decoder's table with vocab_size rows in any case.
  if (model.shareEmbeddings || size == 0)
    return;
  model.decoderVocabulary = size;
  if (model.tieWordEmbeddings && size != model.vocabulary)
    config.fail("decoder_vocab_size",
                "vocab_size = " + Twine(model.vocabulary) +
                    " while tie_word_embeddings is true");
}

Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config) {
  HuggingFaceConfig model;
  model.architecture = readArchitecture(config);
  if (Error error = config.takeError())
    return std::move(error);
  bool isMarian = model.architecture == HuggingFaceConfig::Architecture::Marian;

  // transformers knows both names of these two.
  model.width = config.integer(
      "d_model", config.integer("hidden_size", 1024, 1, kMaxWidth), 1,
      kMaxWidth);
  int64_t heads = config.integer("num_attention_heads", 16, 1, kMaxWidth);
  model.encoder = readStack(config, "encoder", model.width, heads);
  model.decoder = readStack(config, "decoder", model.width, 16);
  model.maxPositions =
      config.integer("max_position_embeddings", 1024, 1, kMaxWidth);
  readVocabularies(config, model);
  readActivation(config, model);
  model.scaleEmbedding = config.boolean("scale_embedding", false);
  model.normalizeBefore = config.boolean("normalize_before", false);
  model.finalNorm = config.boolean("add_final_layer_norm", false);
  model.normalizeEmbedding = config.boolean("normalize_embedding", !isMarian);
  model.staticPositions =
      config.boolean("static_position_embeddings", isMarian);
  if (isMarian)
    config.require("static_position_embeddings", {true});
  if (model.staticPositions && model.width % 2 != 0)
    config.fail("d_model", "even widths, half of which are sines");

  model.bos = config.id("bos_token_id",
                        isMarian ? std::nullopt : std::optional<int64_t>(0),
                        model.vocabulary);
  model.sourceCharacters = config.text("grapheme_chars", "");
  model.targetCharacters = config.text("phoneme_chars", "");
  if (model.sourceCharacters.empty() != model.targetCharacters.empty())
    config.fail("phoneme_chars", "given together with grapheme_chars");

  config.require("is_encoder_decoder", {true});
  config.require("is_decoder", {false});
  config.require("add_cross_attention", {false});
  config.require("cross_attention_hidden_size", {});
  config.require("chunk_size_feed_forward", {0});
  config.require("tie_encoder_decoder", {false});
  config.require("do_blenderbot_90_layernorm", {false});
  if (model.staticPositions)
    config.read("extra_pos_embeddings");
  else
    config.require("extra_pos_embeddings", {2});
  config.require("pruned_heads", {json::Object()});
  config.require("quantization_config", {});
  config.require("auto_map", {});
  config.ignore(kIrrelevantFields);
  if (Error error = config.takeError())
    return std::move(error);
  return model;
}

} // namespace heddle
