//===- PlBart.cpp - PLBart ------------------------------------------------===//
//
// PLBartForConditionalGeneration (arXiv:2103.06333): BART for programs, with
// embeddings that are scaled.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyPlBart() {
  HuggingFaceArchitecture plbart;
  plbart.className = "PLBartForConditionalGeneration";
  plbart.modelType = "plbart";
  plbart.prefix = "model";
  plbart.vocabulary = 50005;
  plbart.sizes.width = 768;
  plbart.sizes.encoder = plbart.sizes.decoder = {/*depth=*/6, /*heads=*/12,
                                                 /*ffnWidth=*/3072};
  plbart.ids.bos = 0;
  plbart.ids.eos = 2;
  plbart.ids.pad = 1;
  plbart.ids.forcedEos = 2;
  plbart.form.normalizeEmbedding = true;
  plbart.scalesEmbedding = true;
  plbart.sharedTables = kBartTables;
  plbart.sidesFallBack = true;
  plbart.readForm = readPositions;
  plbart.buildEncode = buildBartEncode;
  plbart.tokenizerClass = "PLBartTokenizer";
  return makeEncoderDecoder(plbart);
}
