//===- Roberta.cpp - RoBERTa, XLM-RoBERTa, CamemBERT ----------------------===//
//
// RobertaModel (arXiv:1907.11692): BERT with positions that are counted from
// ids. Its descendants are the same class with another vocabulary:
// XLMRobertaModel (arXiv:1911.02116), CamembertModel (arXiv:1911.03894).
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace heddle;

static constexpr FamilyClass kKin[] = {{"xlm-roberta", "XLMRobertaModel"},
                                       {"camembert", "CamembertModel"}};

static EncoderHeads headsOf(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"lm_head.dense", config.width},
                ActivationKind::Gelu,
                NormBlock{"lm_head.layer_norm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "lm_head.decoder.weight";
  heads.fillBiases = {"lm_head.decoder.bias", "lm_head.bias"};
  heads.classify = {LinearBlock{"classifier.dense", config.width},
                    ActivationKind::Tanh};
  heads.classifier = "classifier.out_proj";
  return heads;
}

static llvm::Expected<ImportedModel> importRoberta(HuggingFaceFolder &folder) {
  std::string type = folder.config.text("model_type", "roberta");
  EncoderFamily roberta;
  roberta.modelType = "roberta";
  roberta.prefix = "roberta";
  roberta.tokenizerClass = type == "xlm-roberta" ? "XLMRobertaTokenizer"
                           : type == "camembert" ? "CamembertTokenizer"
                                                 : "RobertaTokenizer";
  roberta.heads = headsOf;
  roberta.vocabulary = type == "roberta" ? 50265 : 30522;
  roberta.types = 2;
  roberta.fields.mayDecode = true;
  roberta.pad = folder.config.size("pad_token_id", 1, 0, kMaxVocabulary);
  return importEncoder(folder, roberta);
}

Family heddle::makeFamilyRoberta() {
  return {"roberta", "RobertaModel", importRoberta, {}, kKin};
}
