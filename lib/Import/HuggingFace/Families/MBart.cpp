//===- MBart.cpp - mBART --------------------------------------------------===//
//
// MBartForConditionalGeneration (arXiv:2001.08210): BART with the norms in
// front of the sublayers and one behind the last layer.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyMBart() {
  HuggingFaceArchitecture mbart;
  mbart.className = "MBartForConditionalGeneration";
  mbart.modelType = "mbart";
  mbart.prefix = "model";
  mbart.vocabulary = 50265;
  mbart.ids.bos = 0;
  mbart.ids.eos = 2;
  mbart.ids.pad = 1;
  mbart.ids.forcedEos = 2;
  mbart.form.normalizeBefore = true;
  mbart.form.finalNorm = true;
  mbart.form.normalizeEmbedding = true;
  mbart.sharedTables = kBartTables;
  mbart.sidesFallBack = true;
  mbart.readForm = readPositions;
  mbart.buildEncode = buildBartEncode;
  mbart.tokenizerClass = "MBartTokenizer";
  return makeEncoderDecoder(mbart);
}
