//===- ImportBart.cpp - BART ----------------------------------------------===//
//
// BartForConditionalGeneration (arXiv:1910.13461), and the encoder that its
// descendants share. HuggingFaceModel.cpp has the names of tensors (`q_proj`,
// `fc1`, ...).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/HuggingFaceModel.h"

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

const HuggingFaceArchitecture heddle::kBart = {
    "BartForConditionalGeneration",
    "bart",
    "model",
    /*vocabulary=*/50265,
    {/*start=*/2, /*bos=*/0, /*eos=*/2, /*pad=*/1, /*forcedEos=*/2},
    {/*normalizeBefore=*/false, /*finalNorm=*/false,
     /*normalizeEmbedding=*/true, /*staticPositions=*/false},
    /*hadOtherForms=*/true,
    /*readsForceBos=*/true,
    kBartTables,
    /*sidesFallBack=*/true,
    readPositions,
    buildBartEncode,
    "BartTokenizer"};
