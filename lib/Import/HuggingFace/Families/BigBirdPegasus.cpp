//===- BigBirdPegasus.cpp - Pegasus with sparse attention -----------------===//
//
// BigBirdPegasusForConditionalGeneration (arXiv:2007.14062): BART with the
// norms in front of the sublayers, one behind the last layer, attention without
// biases, and a position for each row of the learned table.
//
// Up to (5 + 2 r) b tokens, with r random blocks of b tokens each, transformers
// attends to all keys. Longer sources it attends in blocks, whose random ones
// all are the first block: that is not imported, and sources end there.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Blocks.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace mlir;
using namespace heddle;

static void buildBigBirdEncode(HuggingFaceModel &model) {
  LayerBuilder &layers = model.layers;
  const HuggingFaceConfig &config = model.config;
  auto arguments = layers.beginEncode(config.width);
  Value mask = layers.paddingMask(arguments[1]);
  Value x = model.embed(arguments[0], "encoder");
  for (int64_t i = 0; i < config.encoder.depth; ++i) {
    std::string layer = model.layerName("encoder", i),
                name = layer + ".self_attn", self = name + ".self";
    auto wide = [&](const std::string &linear) {
      return LinearBlock{linear, config.width, config.attentionBias};
    };
    AttentionBlock block{self,
                         wide(self + ".query"),
                         wide(self + ".key"),
                         wide(self + ".value"),
                         wide(name + ".output"),
                         config.encoder.heads};
    block.mask = mask;
    x = model.sublayer(x, name + "_layer_norm", [&](Value input) {
      return Blocks(layers).attention(input, /*memory=*/Value(), block);
    });
    x = model.feedForward(x, layer, config.encoder.ffnWidth);
  }
  layers.endFunction(model.finish(x, "encoder"));
}

static void readBigBirdForm(ConfigReader &config, HuggingFaceConfig &model) {
  readPlainPositions(config, model);
  model.attentionBias = config.truth("use_bias", false);
  std::string type = config.text("attention_type", "block_sparse");
  int64_t block = config.size("block_size", 64, 1, kMaxWidth);
  int64_t random = config.size("num_random_blocks", 3, 0, kMaxWidth);
  if (type == "original_full")
    return;
  if (type != "block_sparse")
    return config.fail("attention_type", "block_sparse, original_full");
  int64_t most = (5 + 2 * random) * block;
  if (most >= model.encoder.maxPositions)
    return;
  model.sourceLimit = most;
  config.warn("attention_type",
              "but Heddle does not attend in sparse blocks: sources have at "
              "most " +
                  llvm::Twine(most) +
                  " tokens, up to which the class attends to all of them");
}

Family heddle::makeFamilyBigBirdPegasus() {
  HuggingFaceArchitecture bigbird;
  bigbird.className = "BigBirdPegasusForConditionalGeneration";
  bigbird.modelType = "bigbird_pegasus";
  bigbird.prefix = "model";
  bigbird.vocabulary = 96103;
  bigbird.sizes.positions = 4096;
  bigbird.sizes.encoder.depth = bigbird.sizes.decoder.depth = 16;
  bigbird.ids.start = 2;
  bigbird.ids.bos = 2;
  bigbird.ids.eos = 1;
  bigbird.ids.pad = 0;
  bigbird.form.normalizeBefore = true;
  bigbird.form.finalNorm = true;
  bigbird.finalNorm = "layernorm_embedding";
  bigbird.scalesEmbedding = true;
  bigbird.activation = "gelu_new";
  bigbird.sharedTables = kBartTables;
  bigbird.sidesFallBack = true;
  bigbird.readForm = readBigBirdForm;
  bigbird.buildEncode = buildBigBirdEncode;
  bigbird.tokenizerClass = "PegasusTokenizer";
  return makeEncoderDecoder(bigbird);
}
