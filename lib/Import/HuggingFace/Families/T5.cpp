//===- T5.cpp - T5, mT5 and UMT5 ------------------------------------------===//
//
// T5ForConditionalGeneration (arXiv:1910.10683, section 2.1) and its kin: RMS
// norms in front of sublayers, no biases, scores that are not divided by the
// root of the width of a head, and a bias of each head for each distance
// between query and key. FLAN-T5, ByT5 and MADLAD are T5 by their
// configurations. Layers of a side share the biases of its first one; UMT5 has
// some in each layer.
//
// A folder of the encoder alone (T5EncoderModel), or of sentence-transformers,
// makes vectors of texts.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/HuggingFaceGeneration.h"
#include "lib/Support/Error.h"
#include "lib/Support/Tasks.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace mlir;
using namespace heddle;
using namespace llvm;

namespace {
/// What the classes say by their code.
struct T5Class {
  FamilyClass name;
  int64_t vocabulary, ffnWidth, depth, heads;
  StringLiteral projection;
  bool isTied;
  /// The first token of a target by default.
  std::optional<int64_t> start;
  /// Whether each layer has biases of distances, and not only the first.
  bool hasBiasesInEachLayer;
};

/// config.json.
struct T5Config {
  const T5Class *kind;
  int64_t vocabulary, width, headWidth, heads, ffnWidth, encoderDepth,
      decoderDepth, buckets, far;
  float epsilon;
  std::optional<ActivationKind> activation;
  bool isGated;
};

/// Writes the layers of both sides.
class T5Layers {
public:
  T5Layers(LayerBuilder &layers, const T5Config &config)
      : layers(layers), config(config) {}

  /// ids [batch, length] -> [batch, length, width].
  Value embed(Value ids);
  /// `depth` layers, and the norm behind them if it is asked for.
  Value encode(Value x, Value lengths, int64_t depth, bool hasNorm);
  /// All layers and the norm behind them, whose vectors are multiplied.
  Value decode(Value x, Value memory, Value lengths, float scale);
  /// The tensor of the table of tokens.
  std::string nameTable() const;

private:
  Value addNorm(Value x, const std::string &name, float scale = 1);
  /// A sublayer behind its norm, and its residual.
  Value addSublayer(Value x, const std::string &name,
                    llvm::function_ref<Value(Value)> apply);
  Value addAttention(Value x, Value memory, Value mask, Value biases,
                     const std::string &sublayer, const std::string &part);
  Value addFfn(Value x, const std::string &sublayer);
  /// Biases of distances between the tokens of a side, in this layer.
  Value readBiases(const std::string &side, int64_t layer);
  LinearBlock linear(const std::string &name, int64_t width) const {
    return {name, width, /*hasBias=*/false};
  }

  LayerBuilder &layers;
  const T5Config &config;
};
} // namespace

static constexpr T5Class kClasses[] = {
    {{"t5", "T5ForConditionalGeneration"},
     32128,
     2048,
     6,
     8,
     "relu",
     /*isTied=*/true,
     /*start=*/std::nullopt,
     /*hasBiasesInEachLayer=*/false},
    {{"mt5", "MT5ForConditionalGeneration"},
     250112,
     1024,
     8,
     6,
     "gated-gelu",
     /*isTied=*/false,
     /*start=*/0,
     /*hasBiasesInEachLayer=*/false},
    {{"umt5", "UMT5ForConditionalGeneration"},
     250112,
     1024,
     8,
     6,
     "gated-gelu",
     /*isTied=*/true,
     /*start=*/0,
     /*hasBiasesInEachLayer=*/true}};

static constexpr FamilyClass kKin[] = {kClasses[1].name, kClasses[2].name};

static constexpr StringLiteral kTokenizer = "T5Tokenizer";

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

/// The classes in `architectures`.
static SmallVector<StringRef> listClasses(ConfigReader &config) {
  SmallVector<StringRef> names;
  const json::Value *value = config.readNonNull("architectures");
  if (const json::Array *classes = value ? value->getAsArray() : nullptr)
    for (const json::Value &each : *classes)
      names.push_back(each.getAsString().value_or(""));
  return names;
}

static const T5Class &chooseClass(ConfigReader &config) {
  std::string type = config.text("model_type", "");
  SmallVector<StringRef> names = listClasses(config);
  return *find_if(kClasses, [&](const T5Class &kind) {
    return type.empty() ? names.front() == kind.name.className
                        : type == kind.name.modelType;
  });
}

/// The field that counts of two for one size: PretrainedConfig sets what an
/// alias says later.
static StringRef fieldOf(ConfigReader &config, StringRef alias,
                         StringRef field) {
  config.read(field);
  return config.read(alias) ? alias : field;
}

static SizeField widthField(ConfigReader &config) {
  return {fieldOf(config, "hidden_size", "d_model"), 512};
}
static SizeField depthField(ConfigReader &config, const T5Class &kind) {
  return {fieldOf(config, "num_hidden_layers", "num_layers"), kind.depth};
}
static SizeField headsField(ConfigReader &config, const T5Class &kind) {
  return {fieldOf(config, "num_attention_heads", "num_heads"), kind.heads};
}

/// "relu", or "gated-silu" of an ffn with a gate. What `dense_act_fn` and
/// `is_gated_act` say counts for more: files of the class have all three.
static void readProjection(ConfigReader &config, T5Config &t5) {
  constexpr StringLiteral field = "feed_forward_proj";
  std::string projection = config.text(field, t5.kind->projection);
  StringRef name = projection;
  bool isGated = name.consume_front("gated-");
  if (name.contains('-'))
    config.fail(field, "an activation, or one behind \"gated-\"");
  // The name of an older release.
  if (projection == "gated-gelu")
    name = "gelu_new";
  bool isNamed = config.readNonNull("dense_act_fn");
  t5.activation = isNamed ? readActivation(config, "dense_act_fn", name)
                          : findActivation(config, field, name);
  t5.isGated = config.truth("is_gated_act", isGated);
}

static T5Config readT5Config(ConfigReader &config) {
  T5Config t5;
  t5.kind = &chooseClass(config);
  auto size = [&](SizeField field, int64_t most) {
    return config.size(field.name, field.byDefault, 1, most);
  };
  t5.vocabulary = size({"vocab_size", t5.kind->vocabulary}, kMaxVocabulary);
  t5.width = size(widthField(config), kMaxWidth);
  t5.headWidth = size({fieldOf(config, "head_dim", "d_kv"), 64}, kMaxWidth);
  t5.heads = size(headsField(config, *t5.kind), kMaxWidth);
  t5.ffnWidth = size({"d_ff", t5.kind->ffnWidth}, kMaxWidth);
  t5.encoderDepth = size(depthField(config, *t5.kind), kMaxDepth);
  // An alias comes too late for this default.
  int64_t layers = size({"num_layers", t5.kind->depth}, kMaxDepth);
  t5.decoderDepth = config.integer("num_decoder_layers", layers, 1, kMaxDepth);
  t5.buckets = size({"relative_attention_num_buckets", 32}, kMaxWidth);
  t5.far = size({"relative_attention_max_distance", 128}, kMaxWidth);
  if (t5.buckets % 4 != 0)
    config.fail("relative_attention_num_buckets", "multiples of 4");
  else if (t5.far <= t5.buckets / 2)
    config.fail("relative_attention_max_distance",
                "more than half of relative_attention_num_buckets = " +
                    Twine(t5.buckets));
  t5.epsilon = float(config.number("layer_norm_epsilon", 1e-6, 0, 1));
  readProjection(config, t5);
  return t5;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Classes tie the tables of both sides, whatever the configuration says; a
/// file has them under the first of these names that it has.
std::string T5Layers::nameTable() const {
  constexpr StringLiteral names[] = {"shared.weight",
                                     "decoder.embed_tokens.weight",
                                     "encoder.embed_tokens.weight"};
  auto *found =
      find_if(names, [&](StringRef name) { return layers.find(name); });
  return (found == std::end(names) ? names[0] : *found).str();
}

Value T5Layers::embed(Value ids) {
  return layers.embedding(
      ids,
      Blocks(layers).table({nameTable(), config.vocabulary, config.width}));
}

Value T5Layers::addNorm(Value x, const std::string &name, float scale) {
  return Blocks(layers).norm(x, {name, config.epsilon, NormKind::Rms,
                                 /*hasBias=*/false, scale});
}

Value T5Layers::addSublayer(Value x, const std::string &name,
                            llvm::function_ref<Value(Value)> apply) {
  return layers.add(x, apply(addNorm(x, name + ".layer_norm")));
}

Value T5Layers::readBiases(const std::string &side, int64_t layer) {
  std::string name = side + ".block." + std::to_string(layer) +
                     ".layer.0.SelfAttention.relative_attention_bias.weight";
  LayerBuilder::Parameter table{name,
                                {config.buckets, config.heads},
                                /*transposed=*/false,
                                {config.buckets, config.heads}};
  return layers.relativeBuckets(
      table, {config.buckets, config.far, /*isCausal=*/side == "decoder"});
}

Value T5Layers::addAttention(Value x, Value memory, Value mask, Value biases,
                             const std::string &sublayer,
                             const std::string &part) {
  std::string name = sublayer + "." + part;
  int64_t inner = config.heads * config.headWidth;
  AttentionBlock block{name,
                       linear(name + ".q", inner),
                       linear(name + ".k", inner),
                       linear(name + ".v", inner),
                       linear(name + ".o", config.width),
                       config.heads};
  block.scale = 1;
  block.mask = mask;
  block.biases = biases;
  return addSublayer(x, sublayer, [&](Value input) {
    return Blocks(layers).attention(input, memory, block);
  });
}

Value T5Layers::addFfn(Value x, const std::string &sublayer) {
  std::string name = sublayer + ".DenseReluDense.";
  FfnBlock block{
      linear(name + (config.isGated ? "wi_0" : "wi"), config.ffnWidth),
      linear(name + "wo", config.width), config.activation};
  if (config.isGated)
    block.gate = linear(name + "wi_1", config.ffnWidth);
  return addSublayer(x, sublayer, [&](Value input) {
    return Blocks(layers).ffn(input, block);
  });
}

Value T5Layers::encode(Value x, Value lengths, int64_t depth, bool hasNorm) {
  Value mask = layers.paddingMask(lengths), biases;
  for (int64_t i = 0; i < depth; ++i) {
    std::string layer = "encoder.block." + std::to_string(i) + ".layer.";
    if (i == 0 || config.kind->hasBiasesInEachLayer)
      biases = readBiases("encoder", i);
    x = addAttention(x, /*memory=*/Value(), mask, biases, layer + "0",
                     "SelfAttention");
    x = addFfn(x, layer + "1");
  }
  return hasNorm ? addNorm(x, "encoder.final_layer_norm") : x;
}

Value T5Layers::decode(Value x, Value memory, Value lengths, float scale) {
  Value causal = layers.causalMask(), padding = layers.paddingMask(lengths),
        biases;
  for (int64_t i = 0; i < config.decoderDepth; ++i) {
    std::string layer = "decoder.block." + std::to_string(i) + ".layer.";
    if (i == 0 || config.kind->hasBiasesInEachLayer)
      biases = readBiases("decoder", i);
    x = addAttention(x, /*memory=*/Value(), causal, biases, layer + "0",
                     "SelfAttention");
    x = addAttention(x, memory, padding, /*biases=*/Value(), layer + "1",
                     "EncDecAttention");
    x = addFfn(x, layer + "2");
  }
  return addNorm(x, "decoder.final_layer_norm", scale);
}

//===----------------------------------------------------------------------===//
// The encoder alone
//===----------------------------------------------------------------------===//

/// Whether vectors of texts are asked for: by the class, by the modules of
/// sentence-transformers, or by whoever compiles.
static bool isEncoderAlone(HuggingFaceFolder &folder) {
  SmallVector<StringRef> names = listClasses(folder.config);
  return (names.size() == 1 && names.front().ends_with("EncoderModel")) ||
         sys::fs::exists(folder.root + "/modules.json") ||
         !folder.options.pooling.empty() || folder.options.layers;
}

static Expected<ImportedModel> importAlone(HuggingFaceFolder &folder,
                                           const T5Config &config) {
  EncoderFamily family;
  family.modelType = config.kind->name.modelType;
  family.tokenizerClass = kTokenizer;
  family.vocabulary = config.kind->vocabulary;
  family.limitsTexts = false;
  EncoderFields &fields = family.fields;
  fields.width = widthField(folder.config);
  fields.depth = depthField(folder.config, *config.kind);
  fields.heads = headsField(folder.config, *config.kind);
  fields.ffnWidth = {"d_ff", config.kind->ffnWidth};
  fields.headsDivideWidth = false;
  fields.positions.name = "";
  fields.activation = "";
  fields.epsilon = "layer_norm_epsilon";
  fields.usualEpsilon = 1e-6;
  fields.readsPositionKind = false;
  auto encoder = EncoderImport::begin(folder, family);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  EncoderImport::Inputs inputs = import.beginEncode();
  T5Layers layers(import.getLayers(), config);
  int64_t depth = import.getConfig().usedDepth;
  return import.finish(layers.encode(layers.embed(inputs.ids), inputs.lengths,
                                     depth, depth == config.encoderDepth));
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

/// Copies of the table, and what the first releases of the files had.
static bool isUsuallyUnread(StringRef tensor) {
  return tensor == "lm_head.weight" || tensor == "shared.weight" ||
         tensor.ends_with("embed_tokens.weight") ||
         tensor.ends_with("EncDecAttention.relative_attention_bias.weight");
}

static void buildFunctions(LayerBuilder &layers, const T5Config &config,
                           bool isTied) {
  T5Layers functions(layers, config);
  auto arguments = layers.beginEncode(config.width);
  layers.endFunction(functions.encode(functions.embed(arguments[0]),
                                      arguments[1], config.encoderDepth,
                                      /*hasNorm=*/true));

  arguments = layers.beginDecode(config.width, config.vocabulary);
  // Only an output that is tied is scaled: the norm's weights are, in place of
  // its vectors.
  float scale = isTied ? float(1 / std::sqrt(double(config.width))) : 1;
  Value states = functions.decode(functions.embed(arguments[0]), arguments[1],
                                  arguments[2], scale);
  std::string table = isTied ? functions.nameTable() : "lm_head.weight";
  layers.endFunction(
      Blocks(layers).logits(states, {table, config.vocabulary, config.width},
                            isTied, /*bias=*/Value()));
}

static Expected<ImportedModel> importBoth(HuggingFaceFolder &folder,
                                          const T5Config &t5) {
  ConfigReader &config = folder.config;
  bool isTied = config.truth("tie_word_embeddings", t5.kind->isTied);
  // There is no last position, behind which a cache could forget nothing.
  refuseUnsupportedNetwork(config, kMaxWidth);
  if (config.readNonNull("auto_map"))
    config.warn("auto_map", "but code of the folder is not run, as without "
                            "trust_remote_code");
  if (Error error = config.takeError())
    return std::move(error);
  GeneratingNetwork network;
  network.ids.start = t5.kind->start;
  network.ids.eos = 1;
  network.ids.pad = 0;
  network.sourceVocabulary = network.vocabulary = t5.vocabulary;
  Expected<DictionaryAttr> generation =
      readGeneration(config, folder.generation ? &*folder.generation : nullptr,
                     network, folder.context);
  if (!generation)
    return generation.takeError();
  ImportedModel model;
  if (Error error = addWeights(folder, model))
    return std::move(error);
  Expected<ImportedTokenizer> tokenizer =
      readFolderTokenizer(folder.path, kTokenizer, t5.vocabulary);
  if (!tokenizer)
    return tokenizer.takeError();
  setTokenizer(std::move(*tokenizer), model);
  sayWhatIsIgnored(folder, model);
  model.module =
      createModule(folder.path, t5.kind->name.modelType, folder.context);
  LayerBuilder layers(*model.module, model.weights, folder.missingTensors());
  buildFunctions(layers, t5, isTied);
  if (Error error = layers.takeError())
    return std::move(error);
  setTasks(*model.module, {t5.vocabulary, t5.vocabulary,
                           /*sourcePositions=*/std::nullopt, *generation});
  constexpr double deviation = 0.02;
  if (Error error = finishParameters(folder, isUsuallyUnread, deviation, model))
    return std::move(error);
  return std::move(model);
}

static Expected<ImportedModel> importT5(HuggingFaceFolder &folder) {
  T5Config config = readT5Config(folder.config);
  if (Error error = folder.config.takeError())
    return std::move(error);
  Expected<ImportedModel> model = isEncoderAlone(folder)
                                      ? importAlone(folder, config)
                                      : importBoth(folder, config);
  // Vectors that this linear multiplies leave the range of f16
  // (_keep_in_fp32_modules of the classes).
  if (model)
    model->keptInF16.push_back("*.DenseReluDense.wo.weight");
  return model;
}

Family heddle::makeFamilyT5() {
  const FamilyClass &t5 = kClasses[0].name;
  return {t5.modelType, t5.className, importT5, /*encoderDecoder=*/std::nullopt,
          kKin};
}
