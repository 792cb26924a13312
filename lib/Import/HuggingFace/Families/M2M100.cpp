//===- M2M100.cpp - M2M100, NLLB, SMaLL-100 -------------------------------===//
//
// M2M100ForConditionalGeneration (arXiv:2010.11125), which NLLB
// (arXiv:2207.04672) and SMaLL-100 (arXiv:2210.11621) are, too: BART with the
// norms in front of the sublayers, one behind the last layer, none behind the
// embeddings, and positions by a formula of fairseq. They count from the id of
// padding, also in the middle of a source, whose own row is zero. Languages are
// the tokenizer's.
//
// transformers makes the table longer for longer texts; here it ends where
// `max_position_embeddings` does.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyM2M100() {
  HuggingFaceArchitecture m2m;
  m2m.className = "M2M100ForConditionalGeneration";
  m2m.modelType = "m2m_100";
  m2m.prefix = "model";
  m2m.vocabulary = 128112;
  m2m.ids.start = 2;
  m2m.ids.bos = 0;
  m2m.ids.eos = 2;
  m2m.ids.pad = 1;
  m2m.form.normalizeBefore = true;
  m2m.form.finalNorm = true;
  m2m.form.staticPositions = true;
  m2m.scalesEmbedding = true;
  m2m.activation = "relu";
  m2m.sharedTables = kAllTables;
  m2m.sidesFallBack = true;
  m2m.readForm = readCountedPositions;
  m2m.buildEncode = buildBartEncode;
  m2m.tokenizerClass = "M2M100Tokenizer";
  return makeEncoderDecoder(m2m);
}
