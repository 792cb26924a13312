//===- Llama.cpp - Llama 1 to 3, and SmolLM -------------------------------===//
//
// LlamaModel (arXiv:2302.13971, section 2): RMS norms in front of sublayers, a
// gated ffn, rotary positions, keys and values for groups of heads
// (arXiv:2305.13245).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/DecoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "lib/Import/HuggingFace/RotaryScaling.h"

using namespace mlir;
using namespace heddle;

namespace {
struct LlamaConfig {
  DecoderSizes sizes;
  int64_t depth, heads, kvHeads, headWidth, ffnWidth;
  float epsilon;
  LayerBuilder::Rotary rotary;
  std::optional<ActivationKind> activation;
  bool hasAttentionBias, hasFfnBias;
};
} // namespace

static LlamaConfig readLlamaConfig(ConfigReader &config) {
  LlamaConfig llama;
  DecoderSizes &sizes = llama.sizes;
  sizes.vocabulary = config.size("vocab_size", 32000, 1, kMaxVocabulary);
  sizes.width = config.size("hidden_size", 4096, 1, kMaxWidth);
  sizes.positions = config.size("max_position_embeddings", 2048, 1, kMaxWidth);
  llama.depth = config.size("num_hidden_layers", 32, 1, kMaxDepth);
  llama.heads = config.size("num_attention_heads", 32, 1, kMaxWidth);
  llama.kvHeads =
      config.integer("num_key_value_heads", llama.heads, 1, kMaxWidth);
  if (llama.heads % llama.kvHeads != 0)
    config.fail("num_key_value_heads",
                "divisors of num_attention_heads = " + Twine(llama.heads));
  llama.headWidth = config.integer(
      "head_dim", std::max<int64_t>(sizes.width / llama.heads, 1), 1,
      kMaxWidth);
  if (llama.headWidth % 2 != 0)
    config.fail("head_dim", "an even width of heads");
  llama.ffnWidth = config.size("intermediate_size", 11008, 1, kMaxWidth);
  llama.epsilon = float(config.number("rms_norm_eps", 1e-6, 0, 1));
  config.require("partial_rotary_factor", {1.0});
  llama.rotary = readRotary(config, 10000, llama.headWidth / 2);
  llama.activation = readActivation(config, "hidden_act", "silu");
  llama.hasAttentionBias = config.truth("attention_bias", false);
  llama.hasFfnBias = config.truth("mlp_bias", false);
  // It split products among devices once.
  config.read("pretraining_tp");
  return llama;
}

static Value addLayer(DecoderImport &import, const LlamaConfig &llama,
                      Value causal, Value x, int64_t number) {
  LayerBuilder &layers = import.getLayers();
  Blocks blocks = import.getBlocks();
  std::string name = import.nameOf("layers." + std::to_string(number)) + ".";
  auto norm = [&](Value input, const char *part) {
    return blocks.norm(input, {name + part, llama.epsilon, NormKind::Rms,
                               /*hasBias=*/false});
  };
  auto projection = [&](const char *part, int64_t width) {
    return LinearBlock{name + "self_attn." + part, width,
                       llama.hasAttentionBias};
  };
  int64_t kvWidth = llama.kvHeads * llama.headWidth;
  AttentionBlock attention{name + "self_attn",
                           projection("q_proj", llama.heads * llama.headWidth),
                           projection("k_proj", kvWidth),
                           projection("v_proj", kvWidth),
                           projection("o_proj", llama.sizes.width),
                           llama.heads,
                           llama.kvHeads};
  attention.mask = causal;
  attention.rotary = layers.rotaryFrequencies(llama.rotary);
  x = layers.add(x, blocks.attention(norm(x, "input_layernorm"),
                                     /*memory=*/Value(), attention));
  auto linear = [&](const char *part, int64_t width) {
    return LinearBlock{name + "mlp." + part, width, llama.hasFfnBias};
  };
  FfnBlock ffn{linear("gate_proj", llama.ffnWidth),
               linear("down_proj", llama.sizes.width), llama.activation};
  ffn.gate = linear("up_proj", llama.ffnWidth);
  return layers.add(x, blocks.ffn(norm(x, "post_attention_layernorm"), ffn));
}

static llvm::Expected<ImportedModel> importLlama(HuggingFaceFolder &folder) {
  DecoderFamily family;
  family.modelType = "llama";
  family.prefix = "model";
  family.table = "embed_tokens.weight";
  family.tokenizerClass = "LlamaTokenizer";
  family.ids.bos = 1;
  family.ids.eos = 2;
  LlamaConfig llama = readLlamaConfig(folder.config);
  auto begun = DecoderImport::begin(folder, family, llama.sizes);
  if (!begun)
    return begun.takeError();
  DecoderImport &import = **begun;
  Value x = import.beginDecode();
  Value causal = import.getLayers().causalMask();
  for (int64_t number = 0; number < llama.depth; ++number)
    x = addLayer(import, llama, causal, x, number);
  return import.finish(import.getBlocks().norm(x, {import.nameOf("norm"),
                                                   llama.epsilon, NormKind::Rms,
                                                   /*hasBias=*/false}));
}

Family heddle::makeFamilyLlama() {
  return {"llama", "LlamaForCausalLM", importLlama};
}
