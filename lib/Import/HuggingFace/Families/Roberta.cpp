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

static llvm::Expected<ImportedModel> importRoberta(HuggingFaceFolder &folder) {
  std::string type = folder.config.text("model_type", "roberta");
  EncoderFamily roberta;
  roberta.modelType = "roberta";
  roberta.prefix = "roberta";
  roberta.tokenizerClass = type == "xlm-roberta" ? "XLMRobertaTokenizer"
                           : type == "camembert" ? "CamembertTokenizer"
                                                 : "RobertaTokenizer";
  roberta.heads = headsOfRoberta;
  roberta.vocabulary = type == "roberta" ? 50265 : 30522;
  roberta.types = 2;
  roberta.fields.mayDecode = true;
  roberta.pad = folder.config.size("pad_token_id", 1, 0, kMaxVocabulary);
  return importEncoder(folder, roberta);
}

Family heddle::makeFamilyRoberta() {
  return {"roberta", "RobertaModel", importRoberta, {}, kKin};
}
