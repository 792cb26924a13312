//===- Albert.cpp - ALBERT ------------------------------------------------===//
//
// AlbertModel (arXiv:1909.11942): BERT with narrow tables and shared layers.
// Layers form groups, steps take groups in turn, and the layers of a step are
// all those of its group. Shared layers are shared parameters.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace heddle;

static EncoderHeads headsOf(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"predictions.dense", config.tableWidth},
                config.activation,
                NormBlock{"predictions.LayerNorm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "predictions.decoder.weight";
  heads.fillBiases = {"predictions.bias", "predictions.decoder.bias"};
  heads.classify = {LinearBlock{import.nameOf("pooler"), config.width},
                    ActivationKind::Tanh};
  return heads;
}

static llvm::Expected<ImportedModel> importAlbert(HuggingFaceFolder &folder) {
  EncoderFamily albert;
  albert.modelType = "albert";
  albert.prefix = "albert";
  albert.tokenizerClass = "AlbertTokenizer";
  albert.heads = headsOf;
  albert.vocabulary = 30000;
  albert.types = 2;
  EncoderFields &fields = albert.fields;
  fields.width.byDefault = 4096;
  fields.heads.byDefault = 64;
  fields.ffnWidth.byDefault = 16384;
  fields.tableWidth = {"embedding_size", 128};
  fields.usualActivation = "gelu_new";
  auto size = [&](llvm::StringRef field, int64_t byDefault) {
    return folder.config.size(field, byDefault, 1, kMaxDepth);
  };
  int64_t steps = size(fields.depth.name, fields.depth.byDefault);
  int64_t groups = size("num_hidden_groups", 1);
  int64_t inner = size("inner_group_num", 1);
  albert.layersPerStep = inner;
  EncoderNames &names = albert.names;
  names.projection = "encoder.embedding_hidden_mapping_in";
  names.layer = [=](int64_t number) {
    // As the class computes it, in floating point.
    auto group =
        int64_t(double(number / inner) / (double(steps) / double(groups)));
    return "encoder.albert_layer_groups." + std::to_string(group) +
           ".albert_layers." + std::to_string(number % inner);
  };
  names.query = "attention.query";
  names.key = "attention.key";
  names.value = "attention.value";
  names.output = "attention.dense";
  names.attentionNorm = "attention.LayerNorm";
  names.up = "ffn";
  names.down = "ffn_output";
  names.ffnNorm = "full_layer_layer_norm";
  return importEncoder(folder, albert);
}

Family heddle::makeFamilyAlbert() {
  return {"albert", "AlbertModel", importAlbert};
}
