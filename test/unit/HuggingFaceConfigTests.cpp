//===- HuggingFaceConfigTests.cpp - Configurations of folders -------------===//

#include "HuggingFaceReaders.h"
#include "lib/Import/HuggingFace/HuggingFaceFields.h"
#include "lib/Import/HuggingFace/HuggingFaceForm.h"

using namespace heddle;
using namespace heddle::test;

namespace {

const char *const kBart = R"("architectures": ["BartForConditionalGeneration"],
    "d_model": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "vocab_size": 40)";

const char *const kMBart = R"("model_type": "mbart", "d_model": 16,
    "vocab_size": 40, "decoder_start_token_id": 3)";

const char *const kLed = R"("model_type": "led", "encoder_layers": 2,
    "d_model": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2)";

std::string generationOf(const std::string &config,
                         const std::string &generation = "",
                         const std::string &network = kBart) {
  return settingsText(network + config, generation);
}

TEST(HuggingFaceGeneration, HasTheClassesDefaults) {
  EXPECT_EQ(generationOf(""),
            "{eos = array<i32: 2>, forced_eos = 2 : i32, max_target = 1024 : "
            "i32, pad = 1 : i32, start = 2 : i32}");
}

TEST(HuggingFaceGeneration, LedForcesNoLastToken) {
  std::string settings = generationOf("", "", kLed);
  EXPECT_EQ(settings, "{eos = array<i32: 2>, max_target = 1024 "
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
            "{eos = array<i32: 3, 5>, max_target = "
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
  // Numbers and truths as Python has them, but for `early_stopping is True`.
  has(R"("renormalize_logits": 1)", "renormalize = 1 : i32");
  has(R"("min_length": true)", "min_length = 1 : i32");
  EXPECT_EQ(generationOf(R"(, "num_beams": true, "length_penalty": true,
                             "repetition_penalty": true, "min_length": false,
                             "early_stopping": 1, "renormalize_logits": 0,
                             "remove_invalid_values": 0)"),
            generationOf(""));
}

TEST(HuggingFaceGeneration, ReadsConstraints) {
  EXPECT_EQ(
      generationOf(R"(, "num_beams": 4, "forced_eos_token_id": null,
                     "bad_words_ids": [[3], [4, 5]], "suppress_tokens": [6],
                     "begin_suppress_tokens": [7, 8],
                     "force_bos_token_to_be_generated": true)"),
      "{bad_words = [array<i32: 3>, array<i32: 4, 5>], beams = 4 : i32, "
      "begin_suppress = array<i32: 7, 8>, eos = array<i32: 2>, forced_bos = 0 "
      ": i32, max_target = 1024 : i32, pad = 1 : i32, start = 2 : i32, "
      "suppress = array<i32: 6>}");
}

/// What an import says of two files beside their settings: the sentence of an
/// error, or else warnings and remarks, one a line.
std::string saysOf(const std::string &config,
                   const std::string &generation = "",
                   const std::string &network = kBart) {
  mlir::MLIRContext context;
  ConfigReader reader = makeReader("{" + network + config + "}", "c");
  auto model = readHuggingFaceConfig(reader);
  if (!model)
    return llvm::toString(model.takeError());
  std::optional<ConfigReader> other;
  if (!generation.empty())
    other = makeReader("{" + generation + "}", "g");
  auto settings =
      readGeneration(reader, other ? &*other : nullptr, *model, context);
  if (!settings)
    return llvm::toString(settings.takeError());
  settleForm(reader, *model, nullptr, "model.");
  std::string text;
  for (ConfigReader *file : {&reader, other ? &*other : nullptr}) {
    if (!file)
      continue;
    for (const std::string &warning : file->getWarnings())
      text += warning + "\n";
    for (const std::string &remark : describeFieldsWithoutEffect(*file))
      text += "(" + remark + ")\n";
  }
  return text;
}

TEST(HuggingFaceConfig, NamesWhatIsNotSupported) {
  auto refuses = [](const std::string &field, const std::string &value,
                    const std::string &supported) {
    EXPECT_EQ(saysOf(", \"" + field + "\": " + value),
              "'c' has '" + field + "' with the value " + value +
                  " (supported: " + supported + ")");
  };
  refuses("tie_encoder_decoder", "true", "false");
  refuses("is_encoder_decoder", "false", "true");
  refuses("pruned_heads", R"({"0":[1]})", "{}");
  refuses("quantization_config", R"({"bits":8})", "null");
  refuses("transformers_weights", R"("x")", "null");
  // The cache of 4.57.6 forgets by them.
  refuses("sliding_window", "1024", "null, or more than 1024");
  refuses("attention_chunk_size", "8", "null, or more than 1024");
  refuses("layer_types", R"(["sliding_attention"])",
          "null, a list of \"full_attention\"");
  refuses("activation_function", R"("relu6")",
          "relu, gelu, gelu_python, gelu_new, gelu_fast, gelu_accurate, "
          "gelu_pytorch_tanh, gelu_python_tanh, quick_gelu, silu, swish, tanh, "
          "sigmoid, linear");
  refuses("encoder_layers", R"("six")", "1 to 256");
  // What the library cannot do without.
  refuses("decoder_layers", "null", "1 to 256");
  refuses("max_position_embeddings", "null", "1 to 1048576");
  refuses("model_type", R"("t4")",
          "albert, bart, bert, bigbird_pegasus, blenderbot, blenderbot-small, "
          "deberta-v2, distilbert, electra, fsmt, gpt2, led, llama, "
          "longformer, m2m_100, mbart, mpnet, marian, modernbert, pegasus, "
          "plbart, roberta, xlm-roberta, camembert, t5, mt5, umt5");
  EXPECT_EQ(saysOf(R"(, "activation_function": null)").substr(0, 56),
            "'c' has 'activation_function' with the value null (suppo");
  EXPECT_EQ(generationOf("", R"("eos_token_id": 3)"),
            "'generation_config.json' has no 'decoder_start_token_id' "
            "(expected ids from 0 to 39)");
  EXPECT_EQ(generationOf(R"(, "decoder_start_token_id": null,
                             "bos_token_id": null)"),
            "'config.json' has 'decoder_start_token_id' with the value null "
            "(supported: ids from 0 to 39)");
}

TEST(HuggingFaceGeneration, NamesWhatIsNotSupported) {
  auto refuses = [](const std::string &field, const std::string &value,
                    const std::string &supported,
                    const std::string &more = "") {
    std::string fields = "\"" + field + "\": " + value;
    std::string sentence = " has '" + field + "' with the value " + value +
                           " (supported: " + supported + ")";
    EXPECT_EQ(saysOf(", " + fields + more), "'c'" + sentence);
    std::string ends = R"("eos_token_id": 2, "bos_token_id": 0, )";
    EXPECT_EQ(saysOf("", ends + fields + more), "'g'" + sentence);
  };
  refuses("encoder_no_repeat_ngram_size", "3", "0");
  refuses("encoder_repetition_penalty", "1.5", "1");
  refuses("constraints", "[]", "null");
  refuses("force_words_ids", "[[3]]", "null");
  refuses("dola_layers", R"("high")", "null");
  refuses("exponential_decay_length_penalty", "[3,1.5]", "null");
  refuses("guidance_scale", "1.5", "1");
  refuses("max_time", "10", "null");
  refuses("num_beam_groups", "2", "1", R"(, "num_beams": 4)");
  refuses("penalty_alpha", "0.5", "0");
  refuses("prefill_chunk_size", "4", "null");
  refuses("remove_invalid_values", "true", "false");
  refuses("sequence_bias", "[[[3],1.5]]", "null");
  refuses("stop_strings", R"(["a"])", "null");
  refuses("token_healing", "true", "false");
  refuses("watermarking_config", R"({"bias":2})", "null");
  std::string samples = R"(, "do_sample": true)";
  refuses("typical_p", "0.5", "1", samples);
  refuses("epsilon_cutoff", "0.5", "0", samples);
  refuses("eta_cutoff", "0.5", "0", samples);

  // What the manifest or transformers does not take is said of the file.
  refuses("decoder_start_token_id", "40", "ids from 0 to 39");
  refuses("forced_bos_token_id", "-1", "ids from 0 to 39");
  refuses("forced_eos_token_id", "40", "ids from 0 to 39");
  refuses("bad_words_ids", "[[1],[]]", "lists of ids from 0 to 39");
  refuses("max_length", "0", "2 and more");
  refuses("max_length", "1", "2 and more");
  refuses("max_length", "-3", "2 and more");
  refuses("max_length", R"("many")", "whole numbers");
  refuses("max_new_tokens", "0", "1 and more");
  refuses("max_new_tokens", "-1", "1 and more");
  refuses("min_length", "1.5", "whole numbers");
  refuses("num_beams", "257", "1 to 256");
  refuses("num_beams", "0", "1 to 256");
  refuses("early_stopping", R"("soon")", "true, false or \"never\"");
  const char *numbers = "numbers from -3.40282e+38 to 3.40282e+38";
  refuses("length_penalty", "1e+308", numbers);
  const char *positive = "numbers from 1.17549e-38 to 3.40282e+38";
  for (const char *number : {"1e+308", "0", "-1", "1e-300"})
    refuses("repetition_penalty", number, positive);
  for (const char *number : {"1e+308", "0", "1e-300"})
    refuses("temperature", number, positive, samples);
  for (const char *number : {"1e+308", "1e-300"})
    refuses("temperature", number, positive);
  refuses("top_k", "1.5", "whole numbers");
  refuses("min_p", "2", "numbers from 0 to 1", samples);
}

TEST(HuggingFaceGeneration, RefusesWhatIsNotLoadedThoughItDoesNotGovern) {
  std::string governs = R"("eos_token_id": 2, "bos_token_id": 0)";
  EXPECT_EQ(saysOf(R"(, "max_new_tokens": 0)", governs),
            "'c' has 'max_new_tokens' with the value 0 (supported: 1 and "
            "more)");
  EXPECT_EQ(saysOf(R"(, "max_length": 0, "num_beams": 0)", governs), "");
  EXPECT_EQ(saysOf("", governs + R"(, "streamer": null)"),
            "'g' has 'streamer' with the value null (supported: only as an "
            "argument of 'generate')");
  EXPECT_EQ(
      saysOf("", governs + R"(, "streamer": 1, "_from_model_config": true)"),
      "('g' has fields that transformers 4.57.6 does not know: 'streamer')\n");
}

TEST(HuggingFaceGeneration, TakesNumbersOfAnySizeThatMeanTheSame) {
  auto has = [](const std::string &field, const std::string &setting) {
    std::string text = generationOf(", " + field);
    EXPECT_NE(text.find(setting), std::string::npos) << text;
  };
  has(R"("max_length": 1e30)", " max_length = 2147483646 ");
  has(R"("max_new_tokens": 4294967296)", " max_length = 2147483647 ");
  has(R"("top_k": 1e9)", " top_k = 1000000000 ");
  has(R"("no_repeat_ngram_size": 1e12)", " no_repeat_ngram = 2147483647 ");
  for (const char *nothing :
       {R"("min_length": -4)", R"("no_repeat_ngram_size": -1)",
        R"("top_p": 1.5)", R"("suppress_tokens": [-1, 40])",
        R"("eos_token_id": [2, 40])", R"("early_stopping": 0)",
        R"("bad_words_ids": null)", R"("max_length": null)"})
    EXPECT_EQ(generationOf(std::string(", ") + nothing), generationOf(""))
        << nothing;
  EXPECT_EQ(generationOf(R"(, "pad_token_id": -1)"),
            generationOf(R"(, "pad_token_id": null)"));
}

TEST(HuggingFaceGeneration, WarnsOfWhatDoesNotHappen) {
  auto warns = [](const std::string &field, const std::string &value,
                  const std::string &why, const std::string &more = "") {
    EXPECT_EQ(saysOf(", \"" + field + "\": " + value + more),
              "'c' has '" + field + "' with the value " + value + ", " + why +
                  "\n");
  };
  warns("do_sample", "true", "which heddle-run does if --sample is given");
  warns("num_return_sequences", "4",
        "which heddle-run prints if --n-best is given");
  warns("min_length", "100", "though only 13 tokens can be generated",
        R"(, "max_length": 14)");
  warns("min_new_tokens", "14", "though only 13 tokens can be generated",
        R"(, "max_length": 14)");
  EXPECT_EQ(saysOf(R"(, "min_length": 14, "max_length": 14)"), "");
  EXPECT_EQ(saysOf(R"(, "min_new_tokens": 13, "max_length": 14)"), "");
  warns("temperature", "0", "which sampling cannot use, so it is not set");
  warns("top_k", "-1", "which sampling cannot use, so it is not set");
  for (const char *field : {"typical_p", "epsilon_cutoff", "eta_cutoff"})
    warns(field, "0.5", "which heddle-run --sample does not support");
  warns("eos_token_id", "[2,40]", "but only ids from 0 to 39 can be generated");
  // Then a sequence ends at its limit.
  warns("eos_token_id", "null", "so that only a limit ends a sequence");
  warns("eos_token_id", "[]", "so that only a limit ends a sequence");
  EXPECT_EQ(saysOf("", R"("decoder_start_token_id": 3)"),
            "'g' has no 'eos_token_id', so that only a limit ends a "
            "sequence\n");
  warns("suppress_tokens", "[3,-1]",
        "but only ids from 0 to 39 can be generated");
  EXPECT_EQ(saysOf(R"(, "eos_token_ids": [3])"),
            "'c' has 'eos_token_ids' with the value [3], which transformers "
            "4.57.6 does not read: 'eos_token_id' ends a sequence\n('c' has "
            "fields that its class does not read in transformers 4.57.6: "
            "'eos_token_ids')\n");
  warns("auto_map", R"({"AutoModel":"x.Y"})",
        "but code of the folder is not run, as without trust_remote_code");
  std::string mbart = kMBart, force = R"("force_bos_token_to_be_generated": )";
  EXPECT_EQ(saysOf(", " + force + "false", "", mbart), "");
  EXPECT_EQ(saysOf(", " + force + "true", "", mbart),
            "'c' has 'force_bos_token_to_be_generated' with the value true, "
            "which transformers 4.57.6 reads in a BART's config.json alone: "
            "expected 'forced_bos_token_id'\n");
  EXPECT_EQ(generationOf(", " + force + "true", "", mbart),
            generationOf("", "", mbart));
}

TEST(HuggingFaceConfig, FieldsWithoutEffectAreRemarks) {
  auto says = [](const std::string &fields, const std::string &sentence) {
    EXPECT_EQ(saysOf(", " + fields), sentence) << fields;
  };
  const char *unknown =
      "('c' has fields that transformers 4.57.6 does not know: ";
  says(R"("new_field": {"a": 1}, "b": null)",
       std::string(unknown) + "'b', 'new_field')\n");
  says(R"("eos_token_ids": [2], "replacing_rate": 0,
          "student_decoder_layers": null)",
       "('c' has fields that its class does not read in transformers 4.57.6: "
       "'eos_token_ids')\n" +
           std::string(unknown) +
           "'replacing_rate', 'student_decoder_layers')\n");
  says(R"("is_decoder": true, "add_cross_attention": true,
          "chunk_size_feed_forward": 4, "cross_attention_hidden_size": 8,
          "output_past": true, "add_bias_logits": true)",
       "('c' has fields that its class does not read in transformers 4.57.6: "
       "'add_cross_attention', 'chunk_size_feed_forward', "
       "'cross_attention_hidden_size', 'is_decoder', 'add_bias_logits', "
       "'output_past')\n");
  says(R"("diversity_penalty": 0.5, "top_h": 0.5, "num_beam_groups": 4,
          "forced_decoder_ids": [[1, 5]])",
       "('c' has fields that 'generate' does not read in transformers 4.57.6: "
       "'diversity_penalty', 'forced_decoder_ids', 'top_h')\n");
  says(R"("prefix": "x", "task_specific_params": {"a": {}})",
       "('c' has fields for pipelines, which 'generate' does not read: "
       "'prefix', 'task_specific_params')\n");
  says(R"("prompt_lookup_num_tokens": 3)",
       "('c' has fields that guess tokens ahead, for speed alone: "
       "'prompt_lookup_num_tokens')\n");
  // Every file has them.
  says(R"("dropout": 0.1, "id2label": {}, "sep_token_id": null,
          "cross_attention_hidden_size": null, "finetuning_task": null,
          "problem_type": null, "use_cache": false, "torch_dtype": "float32",
          "output_attentions": true, "torchscript": true, "init_std": null,
          "sliding_window": 2000, "layer_types": ["full_attention"],
          "num_beam_groups": null, "quantization_config": null,
          "penalty_alpha": 0, "cache_implementation": "static")",
       "");
}

TEST(HuggingFaceConfig, ModelTypeDecidesTheClass) {
  auto says = [](const std::string &fields) {
    return saysOf(fields, "", R"("vocab_size": 60000, "d_model": 16)");
  };
  // facebook/bart-base is one; AutoModelForSeq2SeqLM takes it.
  EXPECT_EQ(says(R"(, "model_type": "bart", "architectures": ["BartModel"])"),
            "");
  EXPECT_EQ(says(R"(, "model_type": "marian", "architectures": null)"), "");
  EXPECT_EQ(
      says(R"(, "model_type": "bart",
                "architectures": ["MBartForConditionalGeneration"])"),
      "'c' has 'architectures' with the value "
      "[\"MBartForConditionalGeneration\"], though its 'model_type' makes it a "
      "BartForConditionalGeneration\n");
  EXPECT_EQ(says(R"(, "architectures": ["BartModel"])").substr(0, 61),
            "'c' has 'architectures' with the value [\"BartModel\"] (support");
}

/// Files of transformers 3 had them; without weights the class's form counts.
TEST(HuggingFaceConfig, FieldsOfOlderFormsAreWarnings) {
  auto says = [](const std::string &name, const std::string &field,
                 const std::string &value) {
    std::string text =
        saysOf("\"model_type\": \"" + name + "\", \"" + field + "\": " + value,
               "", R"("vocab_size": 60000, "d_model": 16, )");
    llvm::StringRef tail = text;
    if (tail.consume_front("'c' has '" + field + "' with the value " + value +
                           ", which transformers 4.57.6 does not read: "))
      return tail.rtrim().str();
    return text;
  };
  const char *bart = "BartForConditionalGeneration means ",
             *mbart = "MBartForConditionalGeneration means ",
             *marian = "MarianMTModel means ",
             *pegasus = "PegasusForConditionalGeneration means ",
             *led = "LEDForConditionalGeneration means ";
  auto with = [](const char *name, const char *value) {
    return std::string(name) + value;
  };
  EXPECT_EQ(says("bart", "normalize_before", "true"), with(bart, "false"));
  EXPECT_EQ(says("bart", "normalize_before", "false"), "");
  EXPECT_EQ(says("bart", "normalize_before", "null"), "");
  EXPECT_EQ(says("bart", "add_final_layer_norm", "true"), with(bart, "false"));
  EXPECT_EQ(says("bart", "normalize_embedding", "false"), with(bart, "true"));
  EXPECT_EQ(says("bart", "static_position_embeddings", "true"),
            with(bart, "false"));
  EXPECT_EQ(says("bart", "extra_pos_embeddings", "0"), with(bart, "2"));
  EXPECT_EQ(says("bart", "extra_pos_embeddings", "2"), "");
  EXPECT_EQ(says("bart", "do_blenderbot_90_layernorm", "true"),
            with(bart, "false"));
  EXPECT_EQ(says("mbart", "normalize_before", "true"), "");
  EXPECT_EQ(says("mbart", "normalize_before", "false"), with(mbart, "true"));
  EXPECT_EQ(says("marian", "normalize_embedding", "true"),
            with(marian, "false"));
  EXPECT_EQ(says("marian", "static_position_embeddings", "false"),
            with(marian, "true"));
  EXPECT_EQ(says("pegasus", "static_position_embeddings", "true"), "");
  EXPECT_EQ(says("pegasus", "normalize_embedding", "true"),
            with(pegasus, "false"));
  EXPECT_EQ(says("pegasus", "extra_pos_embeddings", "1"), "");
  EXPECT_EQ(says("led", "normalize_before", "true"), with(led, "false"));
  EXPECT_EQ(says("led", "scale_embedding", "true"),
            "'c' has 'scale_embedding' with the value true, which LED does not "
            "read\n");
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
  EXPECT_EQ(model->architecture->modelType, "marian");
  EXPECT_EQ(model->encoder.heads, 3);
  EXPECT_EQ(model->encoder.ffnWidth, 7);
  EXPECT_EQ(model->decoder.depth, 5);
  EXPECT_EQ(model->decoder.ffnWidth, 4096);
  EXPECT_EQ(model->decoderVocabulary, 8);
  EXPECT_EQ(model->activation, ActivationKind::Silu);
  EXPECT_TRUE(model->scaleEmbedding);
  EXPECT_TRUE(model->form.staticPositions);
  EXPECT_FALSE(model->form.normalizeEmbedding);
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
  EXPECT_EQ(model->architecture->modelType, "led");
  EXPECT_EQ(model->windows, (std::vector<int64_t>{512, 512}));
  EXPECT_EQ(model->encoder.maxPositions, 16384);
  EXPECT_EQ(model->decoder.maxPositions, 1024);
  EXPECT_EQ(model->positionsOffset, 0);
  EXPECT_TRUE(model->form.normalizeEmbedding);

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
}

/// Python takes null for false, and an alias of a field wins.
TEST(HuggingFaceConfig, ReadsAsPythonDoes) {
  auto read = [](const std::string &fields) {
    ConfigReader reader = makeReader(
        R"({"model_type": "marian", "d_model": 16, "encoder_attention_heads": 4)" +
            fields + "}",
        "c");
    auto model = readHuggingFaceConfig(reader);
    EXPECT_TRUE(bool(model)) << llvm::toString(model.takeError());
    return *model;
  };
  EXPECT_TRUE(read("").tieWordEmbeddings);
  EXPECT_FALSE(read(R"(, "tie_word_embeddings": null)").tieWordEmbeddings);
  EXPECT_FALSE(read(R"(, "tie_word_embeddings": 0)").tieWordEmbeddings);
  EXPECT_FALSE(
      read(R"(, "share_encoder_decoder_embeddings": null)").shareEmbeddings);
  EXPECT_TRUE(read(R"(, "scale_embedding": 1)").scaleEmbedding);
  EXPECT_EQ(read(R"(, "hidden_size": 32)").width, 32);
  EXPECT_EQ(read(R"(, "num_attention_heads": 2)").encoder.heads, 2);
}

} // namespace
