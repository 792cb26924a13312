//===- Blenderbot.cpp - Blenderbot ----------------------------------------===//
//
// BlenderbotForConditionalGeneration (arXiv:2004.13637): BART with the norms in
// front of the sublayers, one behind the last layer, none behind the
// embeddings, and a position for each row of the learned table. The class
// forbids n-grams of the source by default.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

Family heddle::makeFamilyBlenderbot() {
  static constexpr DefaultField settings[] = {
      {"encoder_no_repeat_ngram_size", 3}};
  HuggingFaceArchitecture blenderbot;
  blenderbot.className = "BlenderbotForConditionalGeneration";
  blenderbot.modelType = "blenderbot";
  blenderbot.prefix = "model";
  blenderbot.vocabulary = 8008;
  blenderbot.sizes.width = 2560;
  blenderbot.sizes.positions = 128;
  blenderbot.sizes.encoder = {/*depth=*/2, /*heads=*/32, /*ffnWidth=*/10240};
  blenderbot.sizes.decoder = {/*depth=*/24, /*heads=*/32, /*ffnWidth=*/10240};
  blenderbot.ids.start = 1;
  blenderbot.ids.bos = 1;
  blenderbot.ids.eos = 2;
  blenderbot.ids.pad = 0;
  blenderbot.ids.forcedEos = 2;
  blenderbot.settings = settings;
  blenderbot.form.normalizeBefore = true;
  blenderbot.form.finalNorm = true;
  blenderbot.sharedTables = kBartTables;
  blenderbot.sidesFallBack = true;
  blenderbot.readForm = readPlainPositions;
  blenderbot.buildEncode = buildBartEncode;
  blenderbot.tokenizerClass = "BlenderbotTokenizer";
  return makeEncoderDecoder(blenderbot);
}
