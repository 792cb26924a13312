//===- Bert.cpp - BERT ----------------------------------------------------===//
//
// BertModel (arXiv:1810.04805): the sum of the vectors of tokens, types and
// positions, a norm, then the layers of EncoderFamily.h. The encoder is what
// all classes of the family share; heads are left in the file.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"

using namespace mlir;
using namespace heddle;

static llvm::Expected<ImportedModel> importBert(HuggingFaceFolder &folder) {
  EncoderFamily bert;
  bert.modelType = "bert";
  bert.prefix = "bert";
  bert.tokenizerClass = "BertTokenizer";
  bert.vocabulary = 30522;
  bert.types = 2;
  // With null the class adds no positions.
  const llvm::json::Value *kind = folder.config.read("position_embedding_type");
  if (kind && *kind != llvm::json::Value("absolute"))
    folder.config.fail("position_embedding_type", "\"absolute\"");
  auto encoder = EncoderImport::begin(folder, bert);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  const EncoderConfig &config = import.getConfig();

  EncoderImport::Inputs inputs = import.beginEncode();
  Value tokens = import.lookUp(inputs.ids, "embeddings.word_embeddings.weight",
                               config.vocabulary);
  Value types = import.lookUp(
      inputs.types, "embeddings.token_type_embeddings.weight", config.types);
  Value positions = import.getBlocks().table(
      {import.nameOf("embeddings.position_embeddings.weight"),
       config.positionRows, config.width});
  LayerBuilder &layers = import.getLayers();
  Value x = layers.learnedPositions(layers.add(tokens, types), positions,
                                    /*offset=*/0);
  x = import.norm(x, "embeddings.LayerNorm");
  return import.finish(import.addLayers(x, inputs.lengths, /*biases=*/Value()));
}

Family heddle::makeFamilyBert() { return {"bert", "BertModel", importBert}; }
