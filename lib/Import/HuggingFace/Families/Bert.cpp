//===- Bert.cpp - BERT ----------------------------------------------------===//
//
// BertModel (arXiv:1810.04805): the sum of the vectors of tokens, types and
// positions, a norm, then the layers of EncoderFamily.h.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"

using namespace heddle;

static EncoderHeads headsOf(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {
      LinearBlock{"cls.predictions.transform.dense", config.width},
      config.activation,
      NormBlock{"cls.predictions.transform.LayerNorm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "cls.predictions.decoder.weight";
  heads.fillBiases = {"cls.predictions.bias", "cls.predictions.decoder.bias"};
  heads.classify = {LinearBlock{import.nameOf("pooler.dense"), config.width},
                    ActivationKind::Tanh};
  return heads;
}

static llvm::Expected<ImportedModel> importBert(HuggingFaceFolder &folder) {
  EncoderFamily bert;
  bert.modelType = "bert";
  bert.prefix = "bert";
  bert.tokenizerClass = "BertTokenizer";
  bert.heads = headsOf;
  bert.vocabulary = 30522;
  bert.types = 2;
  bert.fields.mayDecode = true;
  return importEncoder(folder, bert);
}

Family heddle::makeFamilyBert() { return {"bert", "BertModel", importBert}; }
