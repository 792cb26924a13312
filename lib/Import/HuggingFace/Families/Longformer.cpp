//===- Longformer.cpp - Longformer ----------------------------------------===//
//
// LongformerModel (arXiv:2004.05150): RoBERTa with attention to windows and
// global tokens. Classes that label texts or answer questions have such tokens,
// others have none: they are without the linears of their rows.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Longformer.h"
#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace heddle;

static llvm::Expected<ImportedModel>
importLongformer(HuggingFaceFolder &folder) {
  EncoderFamily family;
  family.modelType = "longformer";
  family.prefix = "longformer";
  family.tokenizerClass = "LongformerTokenizer";
  family.vocabulary = 30522;
  family.types = 2;
  family.fields.readsPositionKind = false;
  family.pad = folder.config.size("pad_token_id", 1, 0, kMaxVocabulary);
  std::string head = readHeadOfClass(folder.config);
  family.hasGlobalTokens =
      !folder.options.layers &&
      (head == "SequenceClassification" || head == "QuestionAnswering");
  family.heads = [&](const EncoderImport &import) {
    EncoderHeads heads = headsOfRoberta(import);
    heads.separator =
        folder.config.id("sep_token_id", 2, import.getConfig().vocabulary);
    return heads;
  };
  auto encoder = EncoderImport::begin(folder, family);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  std::vector<int64_t> windows =
      readWindows(folder.config, import.getConfig().depth);

  EncoderImport::Inputs inputs = import.beginEncode();
  LongformerAttention attention(import.getLayers(), inputs.global);
  mlir::Value x = import.addEmbeddings(inputs);
  return import.finish(import.addLayers(
      x, inputs.lengths, [&](AttentionBlock &block, int64_t layer) {
        attention.restrict(block, windows[size_t(layer)]);
      }));
}

Family heddle::makeFamilyLongformer() {
  return {"longformer", "LongformerModel", importLongformer};
}
