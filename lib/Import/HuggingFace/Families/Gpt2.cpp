//===- Gpt2.cpp - GPT-2 ---------------------------------------------------===//
//
// GPT2Model (Radford et al., 2019, section 2.3): norms in front of sublayers,
// learned positions. Weights are [in, out], and queries, keys and values are
// one linear.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/DecoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace mlir;
using namespace heddle;

namespace {
struct Gpt2Config {
  DecoderSizes sizes;
  int64_t depth, heads, ffnWidth;
  float epsilon;
  std::optional<ActivationKind> activation;
};
} // namespace

/// Fields of what eager attention alone reads: the default kernel drops them.
static void warnOfEager(ConfigReader &config) {
  constexpr const char *why =
      "which transformers' default attention does not read";
  if (!config.truth("scale_attn_weights", true))
    config.warn("scale_attn_weights", why);
  for (const char *field :
       {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"})
    if (config.truth(field, false))
      config.warn(field, why);
}

static Gpt2Config readGpt2Config(ConfigReader &config) {
  Gpt2Config gpt2;
  DecoderSizes &sizes = gpt2.sizes;
  // An alias overwrites what the field itself says: PretrainedConfig sets it
  // later.
  auto size = [&](const char *alias, const char *field, int64_t byDefault,
                  int64_t most) {
    config.read(field);
    return config.size(config.read(alias) ? alias : field, byDefault, 1, most);
  };
  sizes.vocabulary = config.size("vocab_size", 50257, 1, kMaxVocabulary);
  sizes.width = size("hidden_size", "n_embd", 768, kMaxWidth);
  sizes.positions =
      size("max_position_embeddings", "n_positions", 1024, kMaxWidth);
  gpt2.depth = size("num_hidden_layers", "n_layer", 12, kMaxDepth);
  gpt2.heads = size("num_attention_heads", "n_head", 12, kMaxWidth);
  if (sizes.width % gpt2.heads != 0)
    config.fail("n_head", "divisors of n_embd = " + Twine(sizes.width));
  gpt2.ffnWidth = config.integer("n_inner", 4 * sizes.width, 1, kMaxWidth);
  gpt2.activation = readActivation(config, "activation_function", "gelu_new");
  gpt2.epsilon = float(config.number("layer_norm_epsilon", 1e-5, 0, 1));
  warnOfEager(config);
  // Of training, of another head, and of older releases.
  constexpr llvm::StringLiteral unread[] = {"attn_pdrop",
                                            "embd_pdrop",
                                            "n_ctx",
                                            "resid_pdrop",
                                            "summary_activation",
                                            "summary_first_dropout",
                                            "summary_proj_to_labels",
                                            "summary_type",
                                            "summary_use_proj"};
  config.ignore(unread);
  return gpt2;
}

static Value addLayer(DecoderImport &import, const Gpt2Config &gpt2,
                      Value causal, Value x, int64_t number) {
  LayerBuilder &layers = import.getLayers();
  Blocks blocks = import.getBlocks();
  int64_t width = gpt2.sizes.width;
  std::string name = import.nameOf("h." + std::to_string(number)) + ".";
  auto linear = [&](const char *part, int64_t columns) {
    LinearBlock block{name + part, columns};
    block.isConv1D = true;
    return block;
  };
  LinearBlock part{"", width};
  AttentionBlock attention{
      name + "attn", part, part, part, linear("attn.c_proj", width),
      gpt2.heads};
  attention.joint = linear("attn.c_attn", 3 * width);
  attention.mask = causal;
  Value y = blocks.norm(x, {name + "ln_1", gpt2.epsilon});
  x = layers.add(x, blocks.attention(y, /*memory=*/Value(), attention));
  FfnBlock ffn{linear("mlp.c_fc", gpt2.ffnWidth), linear("mlp.c_proj", width),
               gpt2.activation};
  return layers.add(
      x, blocks.ffn(blocks.norm(x, {name + "ln_2", gpt2.epsilon}), ffn));
}

static llvm::Expected<ImportedModel> importGpt2(HuggingFaceFolder &folder) {
  DecoderFamily family;
  family.modelType = "gpt2";
  family.prefix = "transformer";
  family.table = "wte.weight";
  family.tokenizerClass = "GPT2Tokenizer";
  family.ids.bos = family.ids.eos = 50256;
  family.isTied = true;
  Gpt2Config gpt2 = readGpt2Config(folder.config);
  auto begun = DecoderImport::begin(folder, family, gpt2.sizes);
  if (!begun)
    return begun.takeError();
  DecoderImport &import = **begun;
  LayerBuilder &layers = import.getLayers();
  Value x = import.beginDecode();
  x = layers.learnedPositions(
      x,
      import.getBlocks().table({import.nameOf("wpe.weight"),
                                gpt2.sizes.positions, gpt2.sizes.width}),
      /*offset=*/0);
  Value causal = layers.causalMask();
  for (int64_t number = 0; number < gpt2.depth; ++number)
    x = addLayer(import, gpt2, causal, x, number);
  return import.finish(
      import.getBlocks().norm(x, {import.nameOf("ln_f"), gpt2.epsilon}));
}

Family heddle::makeFamilyGpt2() {
  return {"gpt2", "GPT2LMHeadModel", importGpt2};
}
