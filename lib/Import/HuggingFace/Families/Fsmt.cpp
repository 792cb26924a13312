//===- Fsmt.cpp - Models of fairseq for WMT19 -----------------------------===//
//
// FSMTForConditionalGeneration, the form of facebook/wmt19-*
// (arXiv:1907.06616): BART with a vocabulary for each side, without a norm
// behind the embeddings, and with positions by a formula of fairseq, which
// count from the id of padding. A file may have the positions, too. The output
// is the decoder's table, always.
//
// transformers makes the table longer for longer texts; here it ends where
// `max_position_embeddings` does. `generate` of 4.57.6 passes the class the
// last token alone, which then has the first position, or without a cache no
// causal mask; here each token has its own position and sees those before it,
// as in fairseq and in older releases.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/HuggingFace/Family.h"
#include "lib/Import/HuggingFace/HuggingFaceModel.h"

using namespace heddle;

static void readFsmtForm(ConfigReader &config, HuggingFaceConfig &model) {
  readCountedPositions(config, model);
  model.decoderVocabulary = model.decoderRows =
      config.size("tgt_vocab_size", 42024, 1, kMaxVocabulary);
  // `tie_word_embeddings` makes the two sides' tables one.
  model.shareEmbeddings = model.tieWordEmbeddings;
  if (model.shareEmbeddings && model.decoderRows != model.vocabulary)
    config.fail("tgt_vocab_size",
                "src_vocab_size = " + llvm::Twine(model.vocabulary) +
                    " while tie_word_embeddings is true");
  model.tieWordEmbeddings = true;
  // The class makes its own sub-configuration; languages are the tokenizer's.
  config.ignore(llvm::ArrayRef<llvm::StringRef>{"decoder", "langs"});
}

Family heddle::makeFamilyFsmt() {
  static constexpr DefaultField settings[] = {{"max_length", 200},
                                              {"num_beams", 5}};
  static constexpr llvm::StringLiteral tables[] = {
      "encoder.embed_tokens.weight"};
  HuggingFaceArchitecture fsmt;
  fsmt.className = "FSMTForConditionalGeneration";
  fsmt.modelType = "fsmt";
  fsmt.prefix = "model";
  fsmt.vocabularyField = "src_vocab_size";
  fsmt.vocabulary = 42024;
  fsmt.ids.start = 2;
  fsmt.ids.bos = 0;
  fsmt.ids.eos = 2;
  fsmt.ids.pad = 1;
  fsmt.ids.forcedEos = 2;
  fsmt.settings = settings;
  fsmt.form.staticPositions = true;
  fsmt.scalesEmbedding = true;
  fsmt.activation = "relu";
  fsmt.tiesTables = false;
  fsmt.storesPositions = true;
  fsmt.sharedTables = tables;
  fsmt.outputTable = "decoder.output_projection.weight";
  fsmt.readForm = readFsmtForm;
  fsmt.buildEncode = buildBartEncode;
  fsmt.tokenizerClass = "FSMTTokenizer";
  return makeEncoderDecoder(fsmt);
}
