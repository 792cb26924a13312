//===- Pegasus.cpp - Pegasus ----------------------------------------------===//
//
// PegasusForConditionalGeneration (arXiv:1912.08777): BART with the norms in
// front of the sublayers, one behind the last layer, none behind the
// embeddings, and positions by formula.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyPegasus() {
  HuggingFaceArchitecture pegasus;
  pegasus.className = "PegasusForConditionalGeneration";
  pegasus.modelType = "pegasus";
  pegasus.prefix = "model";
  pegasus.vocabulary = 50265;
  pegasus.ids.start = 0;
  pegasus.ids.eos = 1;
  pegasus.ids.pad = 0;
  pegasus.ids.forcedEos = 1;
  pegasus.form.normalizeBefore = true;
  pegasus.form.finalNorm = true;
  pegasus.form.staticPositions = true;
  pegasus.sharedTables = kBartTables;
  pegasus.sidesFallBack = true;
  pegasus.readForm = readPositions;
  pegasus.buildEncode = buildBartEncode;
  pegasus.tokenizerClass = "PegasusTokenizer";
  return makeEncoderDecoder(pegasus);
}
