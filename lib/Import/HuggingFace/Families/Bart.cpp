//===- Bart.cpp - BART ----------------------------------------------------===//
//
// BartForConditionalGeneration (arXiv:1910.13461), and the encoder that its
// descendants share. HuggingFaceModel.cpp has the names of tensors (`q_proj`,
// `fc1`, ...).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace mlir;
using namespace heddle;

void heddle::buildBartEncode(HuggingFaceModel &model) {
  LayerBuilder &layers = model.layers;
  const HuggingFaceConfig &config = model.config;
  llvm::SmallVector<LayerBuilder::Argument> inputs = {
      {"ids", {"batch", "source"}}, {"lengths", {"batch"}}};
  if (config.pad)
    inputs.push_back({"source_positions", {"batch", "source"}});
  auto arguments =
      layers.beginFunction({"encode", inputs, "memory", config.width});
  Value mask = layers.paddingMask(arguments[1]);
  Value x =
      model.embed(arguments[0], "encoder", config.pad ? arguments[2] : Value());
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = model.layerName("encoder", i);
    x = model.attention(x, /*memory=*/Value(), mask, layer + ".self_attn",
                        config.encoder.heads);
    x = model.feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(model.finish(x, "encoder"));
}

Family heddle::makeFamilyBart() {
  HuggingFaceArchitecture bart;
  bart.className = "BartForConditionalGeneration";
  bart.modelType = "bart";
  bart.prefix = "model";
  bart.vocabulary = 50265;
  bart.ids.start = 2;
  bart.ids.bos = 0;
  bart.ids.eos = 2;
  bart.ids.pad = 1;
  bart.ids.forcedEos = 2;
  bart.form.normalizeEmbedding = true;
  bart.hadOtherForms = true;
  bart.readsForceBos = true;
  bart.sharedTables = kBartTables;
  bart.sidesFallBack = true;
  bart.readForm = readPositions;
  bart.buildEncode = buildBartEncode;
  bart.tokenizerClass = "BartTokenizer";
  return makeEncoderDecoder(bart);
}
