//===- HuggingFaceConfig.cpp - config.json of an encoder-decoder ----------===//
//
// See the header. The lists below name the fields of transformers'
// configuration classes, and of older releases, that have no effect on what a
// model computes.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceConfig.h"
#include "lib/Weights/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
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

ArrayRef<const HuggingFaceArchitecture *> getHuggingFaceArchitectures() {
  static const HuggingFaceArchitecture *const all[] = {&kBart, &kLed, &kMBart,
                                                       &kMarianMt, &kPegasus};
  return all;
}

static const HuggingFaceArchitecture *readArchitecture(ConfigReader &config) {
  ArrayRef<const HuggingFaceArchitecture *> all = getHuggingFaceArchitectures();
  std::string type = config.text("model_type", "");
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  std::optional<StringRef> name = classes && classes->size() == 1
                                      ? classes->front().getAsString()
                                      : std::nullopt;
  auto found = find_if(all, [&](const HuggingFaceArchitecture *known) {
    return value ? name == known->className : type == known->modelType;
  });
  if (found == all.end()) {
    auto nameOf = [](const HuggingFaceArchitecture *known) {
      return known->className.str();
    };
    config.fail("architectures", join(map_range(all, nameOf), ", "));
    return all.front();
  }
  if (!type.empty() && type != (*found)->modelType)
    config.fail("model_type", (*found)->modelType);
  return *found;
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

void readPositions(ConfigReader &config, HuggingFaceConfig &model) {
  model.encoder.maxPositions = model.decoder.maxPositions =
      config.integer("max_position_embeddings", 1024, 1, kMaxWidth);
  // Two rows of a learned table stand for no position.
  model.positionsOffset = model.staticPositions ? 0 : 2;
  if (model.staticPositions && model.width % 2 != 0)
    config.fail("d_model", "even widths, half of which are sines");
  if (model.staticPositions)
    config.read("extra_pos_embeddings");
  else
    config.require("extra_pos_embeddings", {2});
}

void readVariableForm(ConfigReader &config, HuggingFaceConfig &model,
                      bool isStatic, bool hasEmbeddingNorm) {
  model.normalizeBefore = config.boolean("normalize_before", false);
  model.finalNorm = config.boolean("add_final_layer_norm", false);
  model.normalizeEmbedding =
      config.boolean("normalize_embedding", hasEmbeddingNorm);
  model.staticPositions =
      config.boolean("static_position_embeddings", isStatic);
}

void requireForm(ConfigReader &config, HuggingFaceConfig &model,
                 const FixedForm &form) {
  model.normalizeBefore = form.normalizeBefore;
  model.finalNorm = form.finalNorm;
  model.normalizeEmbedding = form.normalizeEmbedding;
  model.staticPositions = form.staticPositions;
  config.require("normalize_before", {form.normalizeBefore});
  config.require("add_final_layer_norm", {form.finalNorm});
  config.require("normalize_embedding", {form.normalizeEmbedding});
  config.require("static_position_embeddings", {form.staticPositions});
}

Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config) {
  HuggingFaceConfig model;
  model.architecture = readArchitecture(config);
  if (Error error = config.takeError())
    return std::move(error);

  // transformers knows both names of these two.
  model.width = config.integer(
      "d_model", config.integer("hidden_size", 1024, 1, kMaxWidth), 1,
      kMaxWidth);
  int64_t heads = config.integer("num_attention_heads", 16, 1, kMaxWidth);
  model.encoder = readStack(config, "encoder", model.width, heads);
  model.decoder = readStack(config, "decoder", model.width, 16);
  model.tieWordEmbeddings = config.boolean("tie_word_embeddings", true);
  model.shareEmbeddings = model.tieWordEmbeddings;
  model.vocabulary = model.decoderVocabulary = config.integer(
      "vocab_size", model.architecture->vocabulary, 1, kMaxVocabulary);
  model.scaleEmbedding = config.boolean("scale_embedding", false);
  readActivation(config, model);
  model.deviation = config.positive("init_std", 0.02);
  model.architecture->readForm(config, model);

  model.bos =
      config.id("bos_token_id", model.architecture->ids.bos, model.vocabulary);
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
  config.require("pruned_heads", {json::Object()});
  config.require("quantization_config", {});
  config.require("auto_map", {});
  config.ignore(kIrrelevantFields);
  if (Error error = config.takeError())
    return std::move(error);
  return model;
}

} // namespace heddle
