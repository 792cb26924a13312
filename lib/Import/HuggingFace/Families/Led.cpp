//===- Led.cpp - LED ------------------------------------------------------===//
//
// LEDForConditionalGeneration is BART with the attention of Longformer
// (arXiv:2004.05150) in its encoder: a token attends to its window and to the
// global tokens; the rows of global tokens are computed by projections of their
// own, over the whole sentence, and replace the others. Which tokens are global
// is an input.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace mlir;
using namespace heddle;

namespace {
/// Self-attention of one encoder.
class Longformer {
public:
  Longformer(HuggingFaceModel &model, Value lengths, Value tokens)
      : model(model), tokens(tokens), valid(model.layers.paddingMask(lengths)),
        columns(model.layers.globalColumns(tokens)) {}

  /// `name` is that of the module with the projections.
  Value attend(Value input, const std::string &name, int64_t window);

private:
  /// Attention of `queries` to `input` by projections whose names end in
  /// `suffix`.
  Value project(Value queries, Value input, Value mask, const std::string &name,
                const std::string &suffix);

  HuggingFaceModel &model;
  /// Positions of the global tokens, i32 [batch, globals].
  Value tokens;
  /// Masks: keys of a sentence, and global ones.
  Value valid, columns;
};
} // namespace

Value Longformer::project(Value queries, Value input, Value mask,
                          const std::string &name, const std::string &suffix) {
  const HuggingFaceConfig &config = model.config;
  auto dense = [&](Value x, const char *part) {
    return model.dense(x, name + part + suffix, config.width);
  };
  Value query = dense(queries, ".query");
  Value key = dense(input, ".key"), value = dense(input, ".value");
  return model.layers.attention(
      name + suffix, {query, key, value, mask, config.encoder.heads});
}

Value Longformer::attend(Value input, const std::string &name, int64_t window) {
  LayerBuilder &layers = model.layers;
  Value near = layers.windowMask(window / 2, window / 2);
  Value mask = layers.both(layers.either(near, columns), valid);
  Value rows = project(input, input, mask, name, "");
  Value taken = layers.takeRows(input, tokens);
  Value global = project(taken, input, valid, name, "_global");
  return layers.putRows(global, tokens, rows);
}

static void buildLedEncode(HuggingFaceModel &model) {
  LayerBuilder &layers = model.layers;
  const HuggingFaceConfig &config = model.config;
  auto arguments = layers.beginFunction({"encode",
                                         {{"ids", {"batch", "source"}},
                                          {"lengths", {"batch"}},
                                          {"global", {"batch", "globals"}}},
                                         "memory",
                                         config.width});
  Longformer longformer(model, arguments[1], arguments[2]);
  Value x = model.embed(arguments[0], "encoder");
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = model.layerName("encoder", i);
    std::string name = layer + ".self_attn";
    x = model.sublayer(x, name + "_layer_norm", [&](Value input) {
      Value y = longformer.attend(input, name + ".longformer_self_attn",
                                  config.windows[size_t(i)]);
      return model.dense(y, name + ".output", config.width);
    });
    x = model.feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(model.finish(x, "encoder"));
}

/// LED's windows: one number for all layers of the encoder, or one for each.
static void readWindows(ConfigReader &config, HuggingFaceConfig &model) {
  size_t depth = size_t(model.encoder.depth);
  constexpr int64_t byDefault = 512;
  const llvm::json::Value *value = config.readNonNull("attention_window");
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  for (size_t layer = 0; layer < depth; ++layer) {
    const llvm::json::Value *own =
        list && list->size() == depth ? &(*list)[layer] : value;
    std::optional<int64_t> window =
        own ? own->getAsInteger() : std::optional(byDefault);
    if (!window || *window < 2 || *window % 2 != 0 || *window > kMaxWidth)
      return config.fail("attention_window",
                         "an even number from 2 to " + llvm::Twine(kMaxWidth) +
                             ", or a list of " + llvm::Twine(depth) +
                             " of them");
    model.windows.push_back(*window);
  }
}

/// LED has one form, whatever a file that was made of BART's says, and builds
/// both of its sides with one table.
static void readLedForm(ConfigReader &config, HuggingFaceConfig &model) {
  model.shareEmbeddings = true;
  model.encoder.maxPositions =
      config.size("max_encoder_position_embeddings", 16384, 1, kMaxWidth);
  model.decoder.maxPositions =
      config.size("max_decoder_position_embeddings", 1024, 1, kMaxWidth);
  model.positionsOffset = 0;
  // The class has no such factor.
  if (model.scaleEmbedding)
    config.warn("scale_embedding", "which LED does not read");
  model.scaleEmbedding = false;
  // transformers takes it for the number of windows.
  config.require("num_hidden_layers", {model.encoder.depth});
  readWindows(config, model);
}

Family heddle::makeFamilyLed() {
  HuggingFaceArchitecture led;
  led.className = "LEDForConditionalGeneration";
  led.modelType = "led";
  led.prefix = "led";
  led.vocabulary = 50265;
  led.ids.start = 2;
  led.ids.bos = 0;
  led.ids.eos = 2;
  led.ids.pad = 1;
  led.form.normalizeEmbedding = true;
  led.sharedTables = kAllTables;
  led.readForm = readLedForm;
  led.buildEncode = buildLedEncode;
  led.tokenizerClass = "LEDTokenizer";
  return makeEncoderDecoder(led);
}
