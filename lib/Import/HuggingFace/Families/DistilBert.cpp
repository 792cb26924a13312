//===- DistilBert.cpp - DistilBERT ----------------------------------------===//
//
// DistilBertModel (arXiv:1910.01108): BERT without types, with names and fields
// of its own. `sinusoidal_pos_embds` says how the table of positions began: the
// file has the table.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"

using namespace heddle;

static EncoderHeads headsOf(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"vocab_transform", config.width}, config.activation,
                NormBlock{"vocab_layer_norm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "vocab_projector.weight";
  heads.fillBiases = {"vocab_projector.bias"};
  heads.classify = {LinearBlock{"pre_classifier", config.width},
                    ActivationKind::Relu};
  return heads;
}

static llvm::Expected<ImportedModel>
importDistilBert(HuggingFaceFolder &folder) {
  EncoderFamily distil;
  distil.modelType = "distilbert";
  distil.prefix = "distilbert";
  distil.tokenizerClass = "DistilBertTokenizer";
  distil.heads = headsOf;
  distil.vocabulary = 30522;
  EncoderFields &fields = distil.fields;
  fields.width.name = "dim";
  fields.depth = {"n_layers", 6};
  fields.heads.name = "n_heads";
  fields.ffnWidth.name = "hidden_dim";
  fields.activation = "activation";
  fields.epsilon = "";
  fields.readsPositionKind = false;
  EncoderNames &names = distil.names;
  names.layer = [](int64_t number) {
    return "transformer.layer." + std::to_string(number);
  };
  names.query = "attention.q_lin";
  names.key = "attention.k_lin";
  names.value = "attention.v_lin";
  names.output = "attention.out_lin";
  names.attentionNorm = "sa_layer_norm";
  names.up = "ffn.lin1";
  names.down = "ffn.lin2";
  names.ffnNorm = "output_layer_norm";
  return importEncoder(folder, distil);
}

Family heddle::makeFamilyDistilBert() {
  return {"distilbert", "DistilBertModel", importDistilBert};
}
