//===- DescendantConfigTests.cpp - Configurations of BART's kin -----------===//

#include "HuggingFaceReaders.h"

using namespace heddle;
using namespace heddle::test;

namespace {

llvm::Expected<HuggingFaceConfig> configOf(const std::string &fields) {
  ConfigReader reader = makeReader("{" + fields + "}", "config.json");
  return readHuggingFaceConfig(reader);
}

std::string sentenceOf(const std::string &fields) {
  auto model = configOf(fields);
  return model ? "" : llvm::toString(model.takeError());
}

std::string generationOf(const std::string &fields,
                         const std::string &generation = "") {
  return settingsText(fields, generation);
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(DescendantConfig, HasTheSizesOfTheClass) {
  auto model = configOf(R"("model_type": "plbart")");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->width, 768);
  EXPECT_EQ(model->encoder.depth, 6);
  EXPECT_EQ(model->decoder.heads, 12);
  EXPECT_EQ(model->encoder.ffnWidth, 3072);
  EXPECT_EQ(model->positionsOffset, 2);
  EXPECT_TRUE(model->scaleEmbedding);

  model = configOf(R"("model_type": "blenderbot")");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->width, 2560);
  EXPECT_EQ(model->encoder.depth, 2);
  EXPECT_EQ(model->decoder.depth, 24);
  EXPECT_EQ(model->decoder.maxPositions, 128);
  EXPECT_EQ(model->positionsOffset, 0);

  model = configOf(R"("model_type": "bigbird_pegasus")");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->encoder.depth, 16);
  EXPECT_EQ(model->activation, ActivationKind::GeluTanh);
  EXPECT_FALSE(model->attentionBias);
}

TEST(DescendantConfig, FsmtHasTwoVocabularies) {
  auto model = configOf(
      R"("model_type": "fsmt", "src_vocab_size": 40, "tgt_vocab_size": 30)");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->vocabulary, 40);
  EXPECT_EQ(model->decoderVocabulary, 30);
  EXPECT_EQ(model->decoderRows, 30);
  EXPECT_FALSE(model->shareEmbeddings);
  EXPECT_TRUE(model->tieWordEmbeddings);
  EXPECT_EQ(model->pad, 1);
  EXPECT_EQ(sentenceOf(R"("model_type": "fsmt", "src_vocab_size": 40,
                          "tgt_vocab_size": 30, "tie_word_embeddings": true)"),
            "'config.json' has 'tgt_vocab_size' with the value 30 (supported: "
            "src_vocab_size = 40 while tie_word_embeddings is true)");
  EXPECT_EQ(sentenceOf(R"("model_type": "fsmt", "tgt_vocab_size": null)"),
            "'config.json' has 'tgt_vocab_size' with the value null "
            "(supported: 1 to 16777216)");
}

TEST(DescendantConfig, BigBirdEndsWhereAttentionIsFull) {
  auto limitOf = [](const std::string &fields) {
    auto model = configOf(R"("model_type": "bigbird_pegasus", )" + fields);
    EXPECT_TRUE(bool(model)) << llvm::toString(model.takeError());
    return model ? model->sourceLimit.value_or(0) : -1;
  };
  EXPECT_EQ(limitOf(R"("vocab_size": 40)"), 704);
  EXPECT_EQ(limitOf(R"("block_size": 4, "num_random_blocks": 1)"), 28);
  EXPECT_EQ(limitOf(R"("max_position_embeddings": 704)"), 0);
  EXPECT_EQ(limitOf(R"("attention_type": "original_full")"), 0);
  EXPECT_EQ(sentenceOf(R"("model_type": "bigbird_pegasus",
                          "attention_type": "dense")"),
            "'config.json' has 'attention_type' with the value \"dense\" "
            "(supported: block_sparse, original_full)");
  ConfigReader reader =
      makeReader(R"({"model_type": "bigbird_pegasus"})", "config.json");
  ASSERT_TRUE(bool(readHuggingFaceConfig(reader)));
  ASSERT_EQ(reader.getWarnings().size(), 1u);
  EXPECT_TRUE(has(reader.getWarnings()[0], "at most 704 tokens"))
      << reader.getWarnings()[0];
}

TEST(DescendantConfig, GeneratesAsTheClassDoes) {
  std::string fsmt = generationOf(R"("model_type": "fsmt")");
  EXPECT_TRUE(has(fsmt, "beams = 5 : i32")) << fsmt;
  EXPECT_TRUE(has(fsmt, "max_length = 199 : i32")) << fsmt;
  EXPECT_TRUE(has(fsmt, "start = 2 : i32")) << fsmt;
  fsmt = generationOf(R"("model_type": "fsmt", "num_beams": 3)");
  EXPECT_TRUE(has(fsmt, "beams = 3 : i32")) << fsmt;
  std::string derived = R"("_from_model_config": true, "eos_token_id": 3,
                           "decoder_start_token_id": 4)";
  fsmt = generationOf(R"("model_type": "fsmt", "num_beams": 5)", derived);
  EXPECT_FALSE(has(fsmt, "beams")) << fsmt;
  // What is no default of the class governs: here one beam.
  fsmt = generationOf(R"("model_type": "fsmt", "num_beams": 1)", derived);
  EXPECT_TRUE(has(fsmt, "eos = array<i32: 2>")) << fsmt;
  std::string pegasus = generationOf(R"("model_type": "bigbird_pegasus")");
  EXPECT_FALSE(has(pegasus, "forced_eos")) << pegasus;
}

TEST(DescendantConfig, BlenderbotForbidsPartsOfTheSource) {
  std::string blenderbot = R"("model_type": "blenderbot")";
  EXPECT_EQ(generationOf(blenderbot),
            "'config.json' has 'encoder_no_repeat_ngram_size' with the value 3 "
            "(supported: 0)");
  for (const char *none : {"0", "null"})
    EXPECT_TRUE(has(generationOf(blenderbot +
                                 ", \"encoder_no_repeat_ngram_size\": " + none),
                    "start = 1"));
  EXPECT_TRUE(
      has(generationOf(blenderbot, R"("eos_token_id": 2, "bos_token_id": 1)"),
          "start = 1"));
}

} // namespace
