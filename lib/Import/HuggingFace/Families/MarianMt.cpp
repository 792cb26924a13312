//===- MarianMt.cpp - Marian models of Hugging Face -----------------------===//
//
// MarianMTModel, the form of the OPUS-MT models: BART with positions by formula
// and without a norm behind the embeddings.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

/// Which of the three tables are one, and how many rows they have.
static void readTables(ConfigReader &config, HuggingFaceConfig &model) {
  model.shareEmbeddings =
      config.truth("share_encoder_decoder_embeddings", true);
  int64_t size = config.integer("decoder_vocab_size", 0, 0, kMaxVocabulary);
  // transformers ignores the field when the tables are one, and builds the
  // decoder's table with vocab_size rows in any case.
  if (model.shareEmbeddings || size == 0)
    return;
  model.decoderVocabulary = size;
  if (model.tieWordEmbeddings && size != model.vocabulary)
    config.fail("decoder_vocab_size",
                "vocab_size = " + llvm::Twine(model.vocabulary) +
                    " while tie_word_embeddings is true");
}

static void readMarianForm(ConfigReader &config, HuggingFaceConfig &model) {
  readTables(config, model);
  readPositions(config, model);
}

Family heddle::makeFamilyMarianMt() {
  HuggingFaceArchitecture marian;
  marian.className = "MarianMTModel";
  marian.modelType = "marian";
  marian.prefix = "model";
  marian.vocabulary = 58101;
  marian.ids.start = 58100;
  marian.ids.eos = 0;
  marian.ids.pad = 58100;
  marian.ids.forcedEos = 0;
  marian.form.staticPositions = true;
  marian.hadOtherForms = true;
  marian.alignedHeads = 1; // OPUS-MT trains it by guided alignment.
  marian.sharedTables = kAllTables;
  marian.readForm = readMarianForm;
  marian.buildEncode = buildBartEncode;
  marian.tokenizerClass = "MarianTokenizer";
  return makeEncoderDecoder(marian);
}
