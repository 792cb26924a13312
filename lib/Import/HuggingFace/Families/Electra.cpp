//===- Electra.cpp - ELECTRA ----------------------------------------------===//
//
// ElectraModel (arXiv:2003.10555), of generators and discriminators: BERT,
// whose tables may be narrower than the model.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace heddle;

static EncoderHeads headsOf(const EncoderImport &import) {
  const EncoderConfig &config = import.getConfig();
  EncoderHeads heads;
  heads.fill = {LinearBlock{"generator_predictions.dense", config.tableWidth},
                ActivationKind::Gelu,
                NormBlock{"generator_predictions.LayerNorm", config.epsilon}};
  heads.words = import.nameOf("embeddings.word_embeddings.weight");
  heads.untiedWords = "generator_lm_head.weight";
  heads.fillBiases = {"generator_lm_head.bias"};
  heads.classify = {LinearBlock{"classifier.dense", config.width},
                    ActivationKind::Gelu};
  heads.classifier = "classifier.out_proj";
  return heads;
}

static llvm::Expected<ImportedModel> importElectra(HuggingFaceFolder &folder) {
  EncoderFamily electra;
  electra.modelType = "electra";
  electra.prefix = "electra";
  electra.tokenizerClass = "ElectraTokenizer";
  electra.heads = headsOf;
  electra.vocabulary = 30522;
  electra.types = 2;
  EncoderFields &fields = electra.fields;
  fields.mayDecode = true;
  fields.width.byDefault = 256;
  fields.heads.byDefault = 4;
  fields.ffnWidth.byDefault = 1024;
  fields.tableWidth = {"embedding_size", 128};
  auto size = [&](const SizeField &field) {
    return folder.config.size(field.name, field.byDefault, 1, kMaxWidth);
  };
  // The class has no matrix between equal widths.
  if (size(*fields.tableWidth) != size(fields.width))
    electra.names.projection = "embeddings_project";
  return importEncoder(folder, electra);
}

Family heddle::makeFamilyElectra() {
  return {"electra", "ElectraModel", importElectra};
}
