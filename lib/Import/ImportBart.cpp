//===- ImportBart.cpp - The encoder of BART and MarianMT ------------------===//
//
// BartForConditionalGeneration and MarianMTModel differ in positions and
// embedding norm only, which the configuration says.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFaceModel.h"

using namespace mlir;
using namespace heddle;

void heddle::buildBartEncode(HuggingFaceModel &model) {
  LayerBuilder &layers = model.layers;
  const HuggingFaceConfig &config = model.config;
  auto arguments = layers.beginFunction(
      "encode", {{"ids", {"batch", "source"}}, {"lengths", {"batch"}}},
      "memory", config.width, {"full"});
  Value mask = layers.paddingMask(arguments[1]);
  Value x = model.embed(arguments[0], "encoder");
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = model.layerName("encoder", i);
    x = model.attention(x, /*memory=*/Value(), mask, layer + ".self_attn",
                        config.encoder.heads);
    x = model.feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(model.finish(x, "encoder"));
}
