//===- MPNet.cpp - MPNet --------------------------------------------------===//
//
// MPNetModel (arXiv:2004.09297): BERT without types, with positions that are
// counted from ids, and with T5's biases of distances, which all layers share.
// The code of transformers 4.57.6 has 32 buckets up to a distance of 128,
// whatever the configuration says: that is the size of the table alone.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/EncoderFamily.h"
#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceConfig.h"

using namespace mlir;
using namespace heddle;

static constexpr int64_t kBuckets = 32, kFar = 128;

static llvm::Expected<ImportedModel> importMPNet(HuggingFaceFolder &folder) {
  EncoderFamily mpnet;
  mpnet.modelType = "mpnet";
  mpnet.prefix = "mpnet";
  mpnet.tokenizerClass = "MPNetTokenizer";
  mpnet.heads = headsOfRoberta;
  mpnet.vocabulary = 30527;
  mpnet.pad = 1;
  mpnet.fields.readsPositionKind = false;
  mpnet.names.query = "attention.attn.q";
  mpnet.names.key = "attention.attn.k";
  mpnet.names.value = "attention.attn.v";
  mpnet.names.output = "attention.attn.o";
  mpnet.names.attentionNorm = "attention.LayerNorm";
  int64_t rows = folder.config.size("relative_attention_num_buckets", kBuckets,
                                    kBuckets, kMaxWidth);
  auto encoder = EncoderImport::begin(folder, mpnet);
  if (!encoder)
    return encoder.takeError();
  EncoderImport &import = **encoder;
  const EncoderConfig &config = import.getConfig();

  EncoderImport::Inputs inputs = import.beginEncode();
  Value x = import.addEmbeddings(inputs);
  LayerBuilder::Parameter table{
      import.nameOf("encoder.relative_attention_bias.weight"),
      {rows, config.heads},
      /*transposed=*/false,
      {rows, config.heads}};
  Value biases = import.getLayers().relativeBuckets(table, {kBuckets, kFar});
  auto addBiases = [&](AttentionBlock &block, int64_t) {
    block.biases = biases;
  };
  return import.finish(import.addLayers(x, inputs.lengths, addBiases));
}

Family heddle::makeFamilyMPNet() {
  return {"mpnet", "MPNetModel", importMPNet};
}
