//===- DebertaV2.cpp - DeBERTa-v2 and v3 ----------------------------------===//
//
// DebertaV2Model (arXiv:2006.03654, arXiv:2111.09543): BERT whose scores have
// products of queries and of keys with vectors of relative positions. These are
// rows of one table, by logarithmic buckets of distances, behind projections of
// each layer: parameters alone, so that they are computed when the model is
// compiled. There are often no positions besides.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Activations.h"
#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace heddle;

namespace {
/// What the class says beyond EncoderConfig.
struct Form {
  bool hasPositions;
  /// Whether scores have these products, and how many of them and of the usual
  /// one divide scores.
  bool hasRelativeKeys = false, hasRelativeQueries = false;
  int64_t products = 1;
  /// Whether layers project vectors as they project queries and keys.
  bool sharesProjections;
  bool normalizesVectors;
  /// Of distances: 0 for a bucket each; beyond `most` all have the last one.
  int64_t buckets, most;
  std::optional<ActivationKind> poolerActivation;

  /// Buckets in one direction.
  int64_t span() const { return buckets > 0 ? buckets : most; }
};
} // namespace

/// The parts of `pos_att_type`, a list or a text with bars.
static std::vector<std::string> readAttentionTypes(ConfigReader &config) {
  const llvm::json::Value *value = config.readNonNull("pos_att_type");
  std::vector<std::string> types;
  if (!value)
    return types;
  if (std::optional<llvm::StringRef> text = value->getAsString())
    for (llvm::StringRef each : llvm::split(*text, '|'))
      types.push_back(each.trim().lower());
  if (const llvm::json::Array *list = value->getAsArray())
    for (const llvm::json::Value &each : *list)
      types.push_back(each.getAsString().value_or("").str());
  return types;
}

static Form readForm(ConfigReader &config) {
  Form form;
  form.hasPositions = config.truth("position_biased_input", true);
  form.sharesProjections = config.truth("share_att_key", false);
  form.normalizesVectors = false;
  std::string norms = config.text("norm_rel_ebd", "none");
  for (llvm::StringRef each : llvm::split(norms, '|'))
    form.normalizesVectors |= each.trim().lower() == "layer_norm";
  std::vector<std::string> types = readAttentionTypes(config);
  bool isRelative = config.truth("relative_attention", false);
  auto has = [&](llvm::StringRef type) {
    bool isThere = llvm::is_contained(types, type);
    form.products += isThere;
    return isThere && isRelative;
  };
  form.hasRelativeKeys = has("c2p");
  form.hasRelativeQueries = has("p2c");
  form.most = config.integer("max_relative_positions", -1, -1, kMaxWidth);
  if (form.most < 1)
    form.most = config.size("max_position_embeddings", 512, 1, kMaxWidth);
  form.buckets = std::max<int64_t>(
      0, config.integer("position_buckets", -1, -1, kMaxWidth));
  if (form.buckets == 1 ||
      (form.buckets > 0 && form.most <= form.buckets / 2 + 1))
    config.fail("position_buckets", "-1, or 2 and more for distances above " +
                                        llvm::Twine(form.buckets / 2 + 1));
  form.poolerActivation = readActivation(config, "pooler_hidden_act", "gelu");
  // Of the largest models of v2.
  config.require("conv_kernel_size", {0});
  return form;
}

static EncoderHeads headsOf(const EncoderImport &import, const Form &form) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  std::string fill = "cls.predictions.";
  heads.fill = {LinearBlock{fill + "transform.dense", config.tableWidth},
                config.activation,
                NormBlock{fill + "transform.LayerNorm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = fill + "decoder.weight";
  heads.fillBiases = {fill + "bias", fill + "decoder.bias"};
  heads.classify = {LinearBlock{"pooler.dense", config.width},
                    form.poolerActivation};
  return heads;
}

/// The norm stands behind the projection, which has no bias.
static Value addEmbeddings(EncoderImport &import, const Form &form,
                           const EncoderNames &names,
                           const EncoderImport::Inputs &inputs) {
  const EncoderConfig &config = import.getConfig();
  LayerBuilder &layers = import.getLayers();
  Blocks blocks = import.getBlocks();
  Value x = import.lookUp(inputs.ids, names.words, config.vocabulary);
  if (form.hasPositions)
    x = layers.learnedPositions(
        x,
        blocks.table({import.nameOf(names.positions), config.positionRows,
                      config.tableWidth}),
        /*offset=*/0);
  if (inputs.types)
    x = layers.add(x, import.lookUp(inputs.types, names.types, config.types));
  if (config.tableWidth != config.width)
    x = blocks.linear(x, {import.nameOf("embeddings.embed_proj"), config.width,
                          /*hasBias=*/false});
  return import.norm(x, names.norm);
}

/// What a layer projects to, of one `part`, "key" or "query", for each distance
/// up to those that have the last bucket.
static Value relativeVectors(EncoderImport &import, const Form &form,
                             const std::string &layer,
                             const std::string &part) {
  const EncoderConfig &config = import.getConfig();
  RelativeBlock block;
  block.table = {import.nameOf("encoder.rel_embeddings.weight"),
                 2 * form.span(), config.width};
  if (form.normalizesVectors)
    block.norm = NormBlock{import.nameOf("encoder.LayerNorm"), config.epsilon};
  block.linear = {import.nameOf(layer + ".attention.self." +
                                (form.sharesProjections ? "" : "pos_") + part +
                                "_proj"),
                  config.width};
  block.buckets = form.buckets;
  block.most = form.most;
  // Kernels compute scores of as many queries behind the last one.
  block.far = form.most + kQueryBlock - 1;
  return import.getBlocks().relativeVectors(block);
}

static llvm::Expected<ImportedModel>
importDebertaV2(HuggingFaceFolder &folder) {
  EncoderFamily deberta;
  deberta.modelType = "deberta-v2";
  deberta.prefix = "deberta";
  deberta.tokenizerClass = "DebertaV2Tokenizer";
  deberta.vocabulary = 128100;
  if (int64_t types = folder.config.size("type_vocab_size", 0, 0, kMaxWidth))
    deberta.types = types;
  EncoderFields &fields = deberta.fields;
  fields.width.byDefault = 1536;
  fields.depth.byDefault = 24;
  fields.heads.byDefault = 24;
  fields.ffnWidth.byDefault = 6144;
  fields.usualEpsilon = 1e-7;
  fields.readsPositionKind = false;
  int64_t width = folder.config.size(fields.width.name, fields.width.byDefault,
                                     1, kMaxWidth);
  fields.tableWidth = {"embedding_size", width};
  EncoderNames &names = deberta.names;
  names.query = "attention.self.query_proj";
  names.key = "attention.self.key_proj";
  names.value = "attention.self.value_proj";
  folder.config.require("pooler_hidden_size", {width});
  Form form = readForm(folder.config);
  deberta.limitsTexts = form.hasPositions;
  deberta.heads = [&](const EncoderImport &import) {
    return headsOf(import, form);
  };
  auto encoder = EncoderImport::begin(folder, deberta);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  int64_t headWidth = width / import.getConfig().heads;
  folder.config.require("attention_head_size", {headWidth});

  EncoderImport::Inputs inputs = import.beginEncode();
  Value x = addEmbeddings(import, form, names, inputs);
  auto adapt = [&](AttentionBlock &block, int64_t number) {
    block.scale = float(1 / std::sqrt(double(headWidth * form.products)));
    std::string layer = names.layer(number);
    if (form.hasRelativeKeys)
      block.relativeKeys = relativeVectors(import, form, layer, "key");
    if (form.hasRelativeQueries)
      block.relativeQueries = relativeVectors(import, form, layer, "query");
  };
  return import.finish(import.addLayers(x, inputs.lengths, adapt));
}

Family heddle::makeFamilyDebertaV2() {
  return {"deberta-v2", "DebertaV2Model", importDebertaV2};
}
