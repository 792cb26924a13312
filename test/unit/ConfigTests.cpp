//===- ConfigTests.cpp - Options and configurations -----------------------===//

#include "FileBuilders.h"
#include "lib/Import/HuggingFaceGeneration.h"
#include "lib/Import/MarianOptions.h"
#include "lib/Import/Yaml.h"
#include "lib/Weights/Json.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

TEST(Yaml, ReadsScalarsAndLists) {
  auto mapping =
      parseYaml("a: 1\nb:\n  - x\n  - \"y z\"\nc: []\nd: \"\"\n", "file");
  ASSERT_TRUE(bool(mapping)) << llvm::toString(mapping.takeError());
  EXPECT_EQ(mapping->at("a").format(), "1");
  EXPECT_EQ(mapping->at("b").format(), "[x, y z]");
  EXPECT_EQ(mapping->at("c").format(), "[]");
  EXPECT_EQ(mapping->at("d").format(), "");
}

TEST(Yaml, RefusesWhatMarianDoesNotWrite) {
  auto parse = [](const std::string &text) {
    return sentenceOf(parseYaml(text, "file"));
  };
  EXPECT_EQ(parse("- a\n"), "'file' is not a YAML mapping");
  EXPECT_EQ(parse(""), "'file' is not a YAML mapping");
  EXPECT_EQ(parse("a: {b: c}\n"), "'file' has the option 'a' that is neither a "
                                  "scalar nor a list of scalars");
  EXPECT_EQ(parse("a: [[b]]\n"), "'file' has the option 'a' that is neither a "
                                 "scalar nor a list of scalars");
  EXPECT_EQ(parse("a: 1\na: 2\n"), "'file' has the option 'a' twice");
  EXPECT_EQ(parse("a: [\n").substr(0, 24), "'file' is not valid YAML");
  EXPECT_NE(parse("a: " + std::string(1 << 20, '[')), "");
  std::string dashes = "a:\n ";
  for (int i = 0; i < 100000; ++i)
    dashes += "- ";
  EXPECT_NE(parse(dashes), "");
}

const char *const kOptions = "type: transformer\n"
                             "transformer-decoder-autoreg: rnn\n"
                             "dec-cell: ssru\n"
                             "tied-embeddings-all: true\n"
                             "dim-emb: 16\n"
                             "transformer-heads: 2\n"
                             "dim-vocabs: [7, 7]\n";

llvm::Expected<MarianOptions> readOptions(const std::string &more) {
  auto file = readMarianFile(makeBuffer(
      buildMarianFile({{"special:model.yml", kInt8, {1}, kOptions + more}})));
  if (!file)
    return file.takeError();
  return readMarianOptions(*file);
}

TEST(MarianOptions, HasMariansDefaults) {
  auto options = readOptions("dec-depth: 3\n");
  ASSERT_TRUE(bool(options)) << llvm::toString(options.takeError());
  EXPECT_EQ(options->encoderDepth, 1);
  EXPECT_EQ(options->decoderLayers, (llvm::SmallVector<int64_t>{1, 2, 3}));
  EXPECT_EQ(options->decoderFfnWidth, 2048);
  EXPECT_EQ(options->activation, ActivationKind::Silu);
  EXPECT_EQ(options->postprocess, "dan");
  EXPECT_TRUE(options->projection);
}

TEST(MarianOptions, HonoursWhatChangesTheNetwork) {
  auto options = readOptions("dec-depth: 2\ntransformer-tied-layers: [1, 1]\n"
                             "transformer-preprocess: n\n"
                             "version: v1.9.56 94aeaa46 2021-04-28\n"
                             "transformer-ffn-activation: gelu\n"
                             "transformer-ffn-depth: 3\n"
                             "transformer-decoder-dim-ffn: 24\n"
                             "transformer-no-projection: true\n");
  ASSERT_TRUE(bool(options)) << llvm::toString(options.takeError());
  EXPECT_EQ(options->decoderLayers, (llvm::SmallVector<int64_t>{1, 1}));
  EXPECT_EQ(options->preprocess, "n");
  EXPECT_FALSE(options->preprocessesKeys);
  // Marian's gelu is x sigmoid(1.702 x).
  EXPECT_EQ(options->activation, ActivationKind::QuickGelu);
  EXPECT_EQ(options->decoderFfnDepth, 3);
  EXPECT_EQ(options->decoderFfnWidth, 24);
  EXPECT_EQ(options->encoderFfnWidth, 2048);
  EXPECT_FALSE(options->projection);
}

TEST(MarianOptions, NamesTheTablesThatAreOne) {
  auto all = readOptions("");
  ASSERT_TRUE(bool(all)) << llvm::toString(all.takeError());
  EXPECT_EQ(all->sourceTable, "Wemb");
  EXPECT_EQ(all->targetTable, "Wemb");
  EXPECT_TRUE(all->tiedOutput);
  EXPECT_TRUE(all->isRecurrent);

  auto read = [](const std::string &more) {
    auto file = readMarianFile(makeBuffer(
        buildMarianFile({{"special:model.yml",
                          kInt8,
                          {1},
                          "type: transformer\ndim-vocabs: [7, 5]\n" + more}})));
    EXPECT_TRUE(bool(file));
    return readMarianOptions(*file);
  };
  auto none = read("");
  ASSERT_TRUE(bool(none)) << llvm::toString(none.takeError());
  EXPECT_EQ(none->sourceTable, "encoder_Wemb");
  EXPECT_EQ(none->targetTable, "decoder_Wemb");
  EXPECT_EQ(none->sourceVocabulary, 7);
  EXPECT_EQ(none->targetVocabulary, 5);
  EXPECT_FALSE(none->tiedOutput);
  EXPECT_FALSE(none->isRecurrent);
  EXPECT_EQ(sentenceOf(read("tied-embeddings-src: true\n")),
            "'file' has the option 'dim-vocabs' with the value '[7, 5]' "
            "(supported: two equal sizes, since embeddings are shared)");
  EXPECT_EQ(sentenceOf(read("dim-vocabs: [7, 5, 3]\n")),
            "'special:model.yml of file' has the option 'dim-vocabs' twice");
}

TEST(MarianOptions, PreNormIsWhatItsVersionMade) {
  auto read = [](const std::string &version) {
    return readOptions("transformer-preprocess: dn\n" + version);
  };
  for (const char *version : {"version: v1.10.42 3cf9e83b\n",
                              "version: v1.12.0\n", "version: v2.0.0\n"}) {
    auto options = read(version);
    ASSERT_TRUE(bool(options)) << llvm::toString(options.takeError());
    EXPECT_TRUE(options->preprocessesKeys) << version;
  }
  for (const char *version :
       {"version: v1.10.28 3b458b04\n", "version: v1.7.0\n"}) {
    auto options = read(version);
    ASSERT_TRUE(bool(options)) << llvm::toString(options.takeError());
    EXPECT_FALSE(options->preprocessesKeys) << version;
  }
  for (const char *version : {"v1.10.30", "1.9.0", "v1.9", "v1.x.0"})
    EXPECT_EQ(sentenceOf(read("version: " + std::string(version) + "\n")),
              "'file' has the option 'version' with the value '" +
                  std::string(version) +
                  "' (supported: v1.10.28 and earlier, v1.10.42 and later, "
                  "which preprocess self-attention in two ways)");
  EXPECT_NE(sentenceOf(read("")), "");
}

TEST(MarianOptions, NamesWhatIsNotSupported) {
  auto read = [](const std::string &more) {
    return sentenceOf(readOptions(more));
  };
  EXPECT_EQ(read("skip: true\n"), "'file' has the option 'skip' with the value "
                                  "'true' (supported: false)");
  EXPECT_EQ(read("new-option: [a, 1]\n"),
            "'file' has the unknown option 'new-option' with the value '[a, "
            "1]'");
  EXPECT_EQ(read("transformer-postprocess: dah\n"),
            "'file' has the option 'transformer-postprocess' with the value "
            "'dah' (supported: the letters dan)");
  EXPECT_EQ(read("enc-depth: 1000000000\n"),
            "'file' has the option 'enc-depth' with the value '1000000000' "
            "(supported: 1 to 256)");
  EXPECT_EQ(read("transformer-tied-layers: [1, 2]\n"),
            "'file' has the option 'transformer-tied-layers' with the value "
            "'[1, 2]' (supported: numbers from 1 to 1)");
  auto file = readMarianFile(
      makeBuffer(buildMarianFile({{"special:model.yml",
                                   kInt8,
                                   {1},
                                   "type: transformer\ndim-vocabs: [7, 7]\n"
                                   "transformer-decoder-autoreg: rnn\n"}})));
  ASSERT_TRUE(bool(file));
  EXPECT_EQ(sentenceOf(readMarianOptions(*file)),
            "'file' has the option 'dec-cell' with the value 'gru' "
            "(supported: ssru)");
}

/// A reader of a JSON text.
ConfigReader makeReader(const std::string &json, const std::string &path) {
  auto object = parseJsonObject(json, path);
  EXPECT_TRUE(bool(object));
  return ConfigReader(std::move(*object), path);
}

const char *const kBart = R"("architectures": ["BartForConditionalGeneration"],
    "d_model": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "vocab_size": 40)";

const char *const kLed = R"("model_type": "led", "encoder_layers": 2,
    "d_model": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2)";

/// The generation settings, as text, or the sentence.
std::string generationOf(const std::string &config,
                         const std::string &generation = "",
                         const std::string &network = kBart) {
  mlir::MLIRContext context;
  ConfigReader reader = makeReader("{" + network + config + "}", "config.json");
  auto model = readHuggingFaceConfig(reader);
  if (!model)
    return llvm::toString(model.takeError());
  std::optional<ConfigReader> other;
  if (!generation.empty())
    other = makeReader("{" + generation + "}", "generation_config.json");
  auto settings =
      readGeneration(reader, other ? &*other : nullptr, *model, context);
  if (!settings)
    return llvm::toString(settings.takeError());
  std::string text;
  llvm::raw_string_ostream(text) << *settings;
  return text;
}

TEST(HuggingFaceGeneration, HasTheClassesDefaults) {
  EXPECT_EQ(generationOf(""),
            "{eos = array<i32: 2>, forced_eos = 2 : i32, max_source = 1024 : "
            "i32, max_target = 1024 : i32, pad = 1 : i32, start = 2 : i32}");
}

TEST(HuggingFaceGeneration, LedForcesNoLastToken) {
  std::string settings = generationOf("", "", kLed);
  EXPECT_EQ(settings,
            "{eos = array<i32: 2>, max_source = 16384 : i32, max_target = 1024 "
            ": i32, pad = 1 : i32, start = 2 : i32}");
  // What is no default of the class governs.
  settings =
      generationOf(R"(, "forced_eos_token_id": 2)",
                   R"("_from_model_config": true, "eos_token_id": 3)", kLed);
  EXPECT_NE(settings.find("forced_eos = 2"), std::string::npos) << settings;
}

TEST(HuggingFaceGeneration, GenerationConfigGovernsAlone) {
  EXPECT_EQ(generationOf(R"(, "forced_eos_token_id": 2, "min_length": 4)",
                         R"("eos_token_id": [3, 5], "bos_token_id": 7)"),
            "{eos = array<i32: 3, 5>, max_source = 1024 : i32, max_target = "
            "1024 : i32, pad = 3 : i32, start = 7 : i32}");
}

TEST(HuggingFaceGeneration, DerivedGenerationConfigYields) {
  std::string derived = R"("_from_model_config": true, "eos_token_id": 3,
                           "decoder_start_token_id": 4)";
  std::string own = generationOf(R"(, "min_length": 4)", derived);
  EXPECT_NE(own.find("min_length = 4"), std::string::npos) << own;
  EXPECT_NE(own.find("eos = array<i32: 2>"), std::string::npos) << own;
  std::string none = generationOf("", derived);
  EXPECT_NE(none.find("eos = array<i32: 3>"), std::string::npos) << none;
}

TEST(HuggingFaceGeneration, CountsGeneratedTokens) {
  auto has = [](const std::string &config, const std::string &setting) {
    std::string settings = generationOf(", " + config);
    EXPECT_NE(settings.find(setting), std::string::npos) << settings;
  };
  // 20 is transformers' default and stands for 20 new tokens; any other number
  // counts the start token.
  has(R"("max_length": 20)", " max_length = 20 ");
  has(R"("max_length": 21)", " max_length = 20 ");
  has(R"("max_length": 512)", " max_length = 511 ");
  has(R"("max_length": 50, "max_new_tokens": 7)", " max_length = 7 ");
  has(R"("min_new_tokens": 3)", " min_new_tokens = 3 ");
  // They replace min_length.
  has(R"("min_length": 5, "min_new_tokens": 3)", " min_new_tokens = 3 ");
  for (const char *both : {R"(, "min_length": 5, "min_new_tokens": 3)",
                           R"(, "min_length": 5, "min_new_tokens": 0)"})
    EXPECT_EQ(generationOf(both).find("min_length"), std::string::npos);
  EXPECT_EQ(generationOf("").find("max_length"), std::string::npos);
}

TEST(HuggingFaceGeneration, ReadsWhatSearchesGoBy) {
  auto has = [](const char *fields, const char *setting) {
    EXPECT_NE(generationOf(std::string(", ") + fields).find(setting),
              std::string::npos)
        << fields << ": " << generationOf(std::string(", ") + fields);
  };
  has(R"("num_beams": 6)", "beams = 6 : i32");
  has(R"("length_penalty": 2.0)", "length_penalty = 2.0");
  has(R"("early_stopping": true)", "early_stopping = \"true\"");
  has(R"("early_stopping": "never")", "early_stopping = \"never\"");
  has(R"("no_repeat_ngram_size": 3)", "no_repeat_ngram = 3 : i32");
  has(R"("repetition_penalty": 1.5)", "repetition_penalty = 1.5");
  has(R"("renormalize_logits": true)", "renormalize = 1 : i32");
  has(R"("temperature": 0.5)", "temperature = 5.0");
  has(R"("top_k": 50)", "top_k = 50 : i32");
  has(R"("top_p": 0.5)", "top_p = 5.0");
  has(R"("min_p": 0.5)", "min_p = 5.0");
  // Defaults say nothing, and what samples is never switched on.
  EXPECT_EQ(generationOf(R"(, "num_beams": 1, "length_penalty": 1.0,
                             "early_stopping": false, "do_sample": true,
                             "renormalize_logits": false,
                             "top_k": 0, "top_p": 1.0)"),
            generationOf(""));
  has(R"("num_beams": 1000)", "'num_beams' with the value 1000");
  has(R"("num_beam_groups": 2)",
      "'num_beam_groups' with the value 2 (supported: 1)");
}

TEST(HuggingFaceGeneration, ReadsConstraints) {
  EXPECT_EQ(
      generationOf(R"(, "num_beams": 4, "forced_eos_token_id": null,
                     "bad_words_ids": [[3], [4, 5]], "suppress_tokens": [6],
                     "begin_suppress_tokens": [7, 8],
                     "force_bos_token_to_be_generated": true)"),
      "{bad_words = [array<i32: 3>, array<i32: 4, 5>], beams = 4 : i32, "
      "begin_suppress = array<i32: 7, 8>, eos = array<i32: 2>, forced_bos = 0 "
      ": i32, max_source "
      "= 1024 : i32, max_target = 1024 : i32, pad = 1 : i32, start = 2 : i32, "
      "suppress = array<i32: 6>}");
}

TEST(HuggingFaceConfig, NamesWhatIsNotSupported) {
  EXPECT_EQ(generationOf(R"(, "new_field": {"a": 1})"),
            "'config.json' has the unknown field 'new_field' with the value "
            "{\"a\":1}");
  EXPECT_EQ(generationOf(R"(, "encoder_no_repeat_ngram_size": 3)"),
            "'config.json' has 'encoder_no_repeat_ngram_size' with the value "
            "3 (supported: 0)");
  EXPECT_EQ(generationOf(R"(, "tie_encoder_decoder": true)"),
            "'config.json' has 'tie_encoder_decoder' with the value true "
            "(supported: false)");
  EXPECT_EQ(generationOf(R"(, "quantization_config": {"bits": 8})"),
            "'config.json' has 'quantization_config' with the value "
            "{\"bits\":8} (supported: null)");
  EXPECT_EQ(generationOf(R"(, "activation_function": "relu6")").substr(0, 67),
            "'config.json' has 'activation_function' with the value \"relu6\" "
            "(sup");
  EXPECT_EQ(generationOf(R"(, "encoder_layers": "six")"),
            "'config.json' has 'encoder_layers' with the value \"six\" "
            "(supported: 1 to 256)");
  EXPECT_EQ(generationOf("", R"("eos_token_id": 3)"),
            "'generation_config.json' has no 'decoder_start_token_id' "
            "(expected ids from 0 to 39)");
  EXPECT_EQ(generationOf("", R"("decoder_start_token_id": 3)"),
            "'generation_config.json' has no 'eos_token_id' (expected ids, "
            "since nothing else ends a sequence)");
  EXPECT_EQ(generationOf(R"(, "decoder_start_token_id": null,
                             "bos_token_id": null)"),
            "'config.json' has 'decoder_start_token_id' with the value null "
            "(supported: ids from 0 to 39)");
  EXPECT_EQ(generationOf(R"(, "eos_token_id": 40)"),
            "'config.json' has 'eos_token_id' with the value 40 (supported: "
            "ids from 0 to 39)");
  EXPECT_EQ(generationOf(R"(, "bad_words_ids": [[1], []])"),
            "'config.json' has 'bad_words_ids' with the value [[1],[]] "
            "(supported: lists of ids from 0 to 39)");
}

TEST(HuggingFaceConfig, ReadsWhatShapesTheNetwork) {
  ConfigReader reader = makeReader(
      R"({"architectures": ["MarianMTModel"], "d_model": 24, "vocab_size": 9,
          "encoder_layers": 2, "decoder_layers": 5, "encoder_ffn_dim": 7,
          "encoder_attention_heads": 3, "decoder_attention_heads": 2,
          "share_encoder_decoder_embeddings": false, "decoder_vocab_size": 8,
          "tie_word_embeddings": false, "activation_function": "swish",
          "scale_embedding": true, "max_position_embeddings": 33})",
      "config.json");
  auto model = readHuggingFaceConfig(reader);
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->architecture, &kMarianMt);
  EXPECT_EQ(model->encoder.heads, 3);
  EXPECT_EQ(model->encoder.ffnWidth, 7);
  EXPECT_EQ(model->decoder.depth, 5);
  EXPECT_EQ(model->decoder.ffnWidth, 4096);
  EXPECT_EQ(model->decoderVocabulary, 8);
  EXPECT_EQ(model->activation, ActivationKind::Silu);
  EXPECT_TRUE(model->scaleEmbedding);
  EXPECT_TRUE(model->staticPositions);
  EXPECT_FALSE(model->normalizeEmbedding);
  EXPECT_FALSE(model->shareEmbeddings);
}

/// The configuration of an LED of two layers with these fields, too.
llvm::Expected<HuggingFaceConfig> ledOf(const std::string &fields) {
  ConfigReader reader =
      makeReader("{" + std::string(kLed) + fields + "}", "config.json");
  return readHuggingFaceConfig(reader);
}

TEST(HuggingFaceConfig, ReadsTheWindowsOfLed) {
  auto model = ledOf("");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->architecture, &heddle::kLed);
  EXPECT_EQ(model->architecture->modelType, "led");
  EXPECT_EQ(model->windows, (std::vector<int64_t>{512, 512}));
  EXPECT_EQ(model->encoder.maxPositions, 16384);
  EXPECT_EQ(model->decoder.maxPositions, 1024);
  EXPECT_EQ(model->positionsOffset, 0);
  EXPECT_TRUE(model->normalizeEmbedding);

  model = ledOf(R"(, "architectures": ["LEDForConditionalGeneration"],
                     "attention_window": [8, 64], "num_hidden_layers": 2,
                     "max_encoder_position_embeddings": 96,
                     "max_decoder_position_embeddings": 33,
                     "tie_word_embeddings": false)");
  ASSERT_TRUE(bool(model)) << llvm::toString(model.takeError());
  EXPECT_EQ(model->windows, (std::vector<int64_t>{8, 64}));
  EXPECT_EQ(model->encoder.maxPositions, 96);
  EXPECT_EQ(model->decoder.maxPositions, 33);
  EXPECT_TRUE(model->shareEmbeddings);
}

TEST(HuggingFaceConfig, NamesWhatLedDoesNotHave) {
  auto refuses = [](const std::string &field, const std::string &value,
                    const std::string &supported) {
    auto model = ledOf(", \"" + field + "\": " + value);
    ASSERT_FALSE(bool(model)) << field;
    EXPECT_EQ(llvm::toString(model.takeError()),
              "'config.json' has '" + field + "' with the value " + value +
                  " (supported: " + supported + ")");
  };
  for (const char *window :
       {"7", "0", "-2", "[8]", "[8,7]", "[8,8,8]", "\"8\"", "[8,null]", "8.5"})
    refuses("attention_window", window,
            "an even number from 2 to 1048576, or a list of 2 of them");
  refuses("num_hidden_layers", "3", "2");
  refuses("scale_embedding", "true", "false");
  refuses("normalize_before", "true", "false");
  refuses("add_final_layer_norm", "true", "false");
  refuses("static_position_embeddings", "true", "false");
  refuses("normalize_embedding", "false", "true");
}

TEST(HuggingFaceConfig, NamesOtherFormsOfAClassThatHasOne) {
  auto read = [](const std::string &name, const std::string &field) {
    ConfigReader reader = makeReader(
        "{\"architectures\": [\"" + name + "\"], " + field + "}", "c");
    return sentenceOf(readHuggingFaceConfig(reader));
  };
  const char *mbart = "MBartForConditionalGeneration",
             *pegasus = "PegasusForConditionalGeneration";
  EXPECT_EQ(read(mbart, "\"normalize_before\": true"), "");
  EXPECT_EQ(
      read(mbart, "\"normalize_before\": false"),
      "'c' has 'normalize_before' with the value false (supported: true)");
  EXPECT_EQ(read(pegasus, "\"static_position_embeddings\": true"), "");
  EXPECT_EQ(read(pegasus, "\"normalize_embedding\": true"),
            "'c' has 'normalize_embedding' with the value true (supported: "
            "false)");
  EXPECT_EQ(read(pegasus, "\"d_model\": 7, \"encoder_attention_heads\": 7, "
                          "\"decoder_attention_heads\": 7"),
            "'c' has 'd_model' with the value 7 (supported: even widths, half "
            "of which are sines)");
}

} // namespace
