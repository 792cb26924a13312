//===- Led.cpp - LED ------------------------------------------------------===//
//
// LEDForConditionalGeneration is BART with the attention of Longformer
// (arXiv:2004.05150) in its encoder. Which tokens are global is an input.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"
#include "lib/Import/HuggingFace/Longformer.h"

using namespace mlir;
using namespace heddle;

static void buildLedEncode(HuggingFaceModel &model) {
  LayerBuilder &layers = model.layers;
  const HuggingFaceConfig &config = model.config;
  auto arguments = layers.beginFunction({"encode",
                                         {{"ids", {"batch", "source"}},
                                          {"lengths", {"batch"}},
                                          {"global", {"batch", "globals"}}},
                                         "memory",
                                         config.width});
  Value valid = layers.paddingMask(arguments[1]);
  LongformerAttention longformer(layers, arguments[2]);
  Value x = model.embed(arguments[0], "encoder");
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = model.layerName("encoder", i);
    std::string name = layer + ".self_attn",
                self = name + ".longformer_self_attn";
    auto wide = [&](const std::string &linear) {
      return LinearBlock{linear, config.width};
    };
    AttentionBlock block{self,
                         wide(self + ".query"),
                         wide(self + ".key"),
                         wide(self + ".value"),
                         wide(name + ".output"),
                         config.encoder.heads};
    block.mask = valid;
    longformer.restrict(block, config.windows[size_t(i)]);
    x = model.sublayer(x, name + "_layer_norm", [&](Value input) {
      return Blocks(layers).attention(input, /*memory=*/Value(), block);
    });
    x = model.feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(model.finish(x, "encoder"));
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
  model.windows = readWindows(config, model.encoder.depth);
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
