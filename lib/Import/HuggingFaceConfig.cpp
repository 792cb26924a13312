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

/// Bounds that keep a damaged field from becoming an endless import.
static constexpr int64_t kMaxDepth = 256, kMaxWidth = 1 << 20,
                         kMaxVocabulary = 1 << 24;

using Architecture = HuggingFaceConfig::Architecture;

namespace {
struct ArchitectureNames {
  Architecture architecture;
  StringLiteral className, modelType;
};
} // namespace

static constexpr ArchitectureNames kArchitectures[] = {
    {Architecture::Bart, "BartForConditionalGeneration", "bart"},
    {Architecture::Led, "LEDForConditionalGeneration", "led"},
    {Architecture::Marian, "MarianMTModel", "marian"},
};

StringRef HuggingFaceConfig::getModelType() const {
  return find_if(kArchitectures,
                 [&](const ArchitectureNames &names) {
                   return names.architecture == architecture;
                 })
      ->modelType;
}

static Architecture readArchitecture(ConfigReader &config) {
  std::string type = config.text("model_type", "");
  const json::Value *value = config.readNonNull("architectures");
  const json::Array *classes = value ? value->getAsArray() : nullptr;
  std::optional<StringRef> name = classes && classes->size() == 1
                                      ? classes->front().getAsString()
                                      : std::nullopt;
  auto found = find_if(kArchitectures, [&](const ArchitectureNames &names) {
    return value ? name == names.className : type == names.modelType;
  });
  if (found == std::end(kArchitectures)) {
    config.fail("architectures",
                join(map_range(kArchitectures,
                               [](const ArchitectureNames &names) {
                                 return names.className.str();
                               }),
                     ", "));
    return Architecture::Bart;
  }
  if (!type.empty() && type != found->modelType)
    config.fail("model_type", found->modelType);
  return found->architecture;
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
  bool isMarian = model.architecture == Architecture::Marian;
  model.tieWordEmbeddings = config.boolean("tie_word_embeddings", true);
  model.vocabulary =
      config.integer("vocab_size", isMarian ? 58101 : 50265, 1, kMaxVocabulary);
  model.decoderVocabulary = model.vocabulary;
  // LED builds both of its sides with one table.
  model.shareEmbeddings =
      model.tieWordEmbeddings || model.architecture == Architecture::Led;
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

/// Where the classes of today have no say, old files do.
static void readForm(ConfigReader &config, HuggingFaceConfig &model) {
  bool isMarian = model.architecture == Architecture::Marian;
  model.encoder.maxPositions = model.decoder.maxPositions =
      config.integer("max_position_embeddings", 1024, 1, kMaxWidth);
  model.scaleEmbedding = config.boolean("scale_embedding", false);
  model.normalizeBefore = config.boolean("normalize_before", false);
  model.finalNorm = config.boolean("add_final_layer_norm", false);
  model.normalizeEmbedding = config.boolean("normalize_embedding", !isMarian);
  model.staticPositions =
      config.boolean("static_position_embeddings", isMarian);
  model.positionsOffset = model.staticPositions ? 0 : 2;
  if (isMarian)
    config.require("static_position_embeddings", {true});
  if (model.staticPositions && model.width % 2 != 0)
    config.fail("d_model", "even widths, half of which are sines");
  if (model.staticPositions)
    config.read("extra_pos_embeddings");
  else
    config.require("extra_pos_embeddings", {2});
}

/// LED has one form, whatever a file that was made of BART's says.
static void readLedForm(ConfigReader &config, HuggingFaceConfig &model) {
  model.encoder.maxPositions =
      config.integer("max_encoder_position_embeddings", 16384, 1, kMaxWidth);
  model.decoder.maxPositions =
      config.integer("max_decoder_position_embeddings", 1024, 1, kMaxWidth);
  model.positionsOffset = 0;
  model.scaleEmbedding = model.normalizeBefore = model.finalNorm =
      model.staticPositions = false;
  model.normalizeEmbedding = true;
  for (StringRef field : {"scale_embedding", "normalize_before",
                          "add_final_layer_norm", "static_position_embeddings"})
    config.require(field, {false});
  config.require("normalize_embedding", {true});
  // transformers takes it for the number of windows.
  config.require("num_hidden_layers", {model.encoder.depth});
}

/// LED's windows: one number for all layers of the encoder, or one for each.
static void readWindows(ConfigReader &config, HuggingFaceConfig &model) {
  size_t depth = size_t(model.encoder.depth);
  constexpr int64_t byDefault = 512;
  const json::Value *value = config.readNonNull("attention_window");
  const json::Array *list = value ? value->getAsArray() : nullptr;
  for (size_t layer = 0; layer < depth; ++layer) {
    const json::Value *own =
        list && list->size() == depth ? &(*list)[layer] : value;
    std::optional<int64_t> window =
        own ? own->getAsInteger() : std::optional(byDefault);
    if (!window || *window < 2 || *window % 2 != 0 || *window > kMaxWidth)
      return config.fail("attention_window",
                         "an even number from 2 to " + Twine(kMaxWidth) +
                             ", or a list of " + Twine(depth) + " of them");
    model.windows.push_back(*window);
  }
}

Expected<HuggingFaceConfig> readHuggingFaceConfig(ConfigReader &config) {
  HuggingFaceConfig model;
  model.architecture = readArchitecture(config);
  if (Error error = config.takeError())
    return std::move(error);
  bool isMarian = model.architecture == Architecture::Marian;

  // transformers knows both names of these two.
  model.width = config.integer(
      "d_model", config.integer("hidden_size", 1024, 1, kMaxWidth), 1,
      kMaxWidth);
  int64_t heads = config.integer("num_attention_heads", 16, 1, kMaxWidth);
  model.encoder = readStack(config, "encoder", model.width, heads);
  model.decoder = readStack(config, "decoder", model.width, 16);
  readVocabularies(config, model);
  readActivation(config, model);
  model.deviation = config.positive("init_std", 0.02);
  if (model.architecture == Architecture::Led) {
    readLedForm(config, model);
    readWindows(config, model);
  } else {
    readForm(config, model);
  }

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
  config.require("pruned_heads", {json::Object()});
  config.require("quantization_config", {});
  config.require("auto_map", {});
  config.ignore(kIrrelevantFields);
  if (Error error = config.takeError())
    return std::move(error);
  return model;
}

} // namespace heddle
