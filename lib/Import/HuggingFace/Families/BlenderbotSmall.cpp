//===- BlenderbotSmall.cpp - Blenderbot of 90M parameters -----------------===//
//
// BlenderbotSmallForConditionalGeneration (arXiv:2004.13637): BART with a
// position for each row of the learned table. The norm behind the embeddings
// stands behind the positions in the encoder, and in front of them in the
// decoder.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyBlenderbotSmall() {
  HuggingFaceArchitecture small;
  small.className = "BlenderbotSmallForConditionalGeneration";
  small.modelType = "blenderbot-small";
  small.prefix = "model";
  small.vocabulary = 50265;
  small.sizes.width = 512;
  small.sizes.positions = 512;
  small.sizes.encoder = small.sizes.decoder = {/*depth=*/8, /*heads=*/16,
                                               /*ffnWidth=*/2048};
  small.ids.start = 1;
  small.ids.bos = 1;
  small.ids.eos = 2;
  small.ids.pad = 0;
  small.ids.forcedEos = 2;
  small.form.normalizeEmbedding = true;
  small.normalizesBeforePositions = true;
  small.sharedTables = kBartTables;
  small.sidesFallBack = true;
  small.readForm = readPlainPositions;
  small.buildEncode = buildBartEncode;
  small.tokenizerClass = "BlenderbotSmallTokenizer";
  return makeEncoderDecoder(small);
}
