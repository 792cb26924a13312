//===- ManifestTests.cpp - From attributes to the manifest ----------------===//

#include "FileBuilders.h"
#include "dialect/Transformer.h"
#include "lib/Artifact/Manifest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

class Manifest : public testing::Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &attributes,
                                          const std::string &body = "") {
    context.loadDialect<mlir::func::FuncDialect, TransformerDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "module @m attributes {" + attributes + "} {" + body + "}", &context);
    EXPECT_TRUE(module);
    return module;
  }

  std::string check(const std::string &attributes) {
    return sentenceOf(checkModelAttributes(*parse(attributes)));
  }

  std::string checkGeneration(const std::string &settings) {
    return check("transformer.family = \"x\", transformer.source = {vocabulary "
                 "= 9 : i32}, transformer.tasks = {generate = {vocabulary = 8 "
                 ": i32, " +
                 settings + "}}");
  }

  /// Floats are printed in more digits than they are written in.
  void expectMismatch(const std::string &key, const std::string &value,
                      const std::string &expected) {
    std::string found =
        checkGeneration("eos = array<i32: 1>, " + key + " = " + value);
    EXPECT_EQ(found.find("the task 'generate' of the module has '" + key +
                         "' with the value "),
              0u)
        << found;
    std::string end = ", expected " + expected;
    EXPECT_EQ(found.rfind(end), found.size() - end.size()) << found;
  }

  mlir::MLIRContext context;
};

TEST_F(Manifest, TranslatesAttributes) {
  auto module = parse(
      R"(transformer.family = "x",
         transformer.source = {vocabulary = 9 : i32, positions = 7 : i32,
                               types = 2 : i32, pad = 0 : i32},
         transformer.tasks = {embed = {
           max_tokens = 5 : i32, prompts = {query = "a \"q\": ", none = ""},
           prompt = "none"}, generate = {
           vocabulary = 8 : i32, start = -1 : i32, eos = array<i32: 0, 2>,
           bad_words = [array<i32: 1>], length_factor = 2.5 : f64}})",
      R"(func.func private @f() attributes {transformer.entry = {
           name = "encode", symbol = "f", dims = ["batch"],
           arguments = [{name = "ids", shape = ["batch", 4 : i64]}]}})");
  ManifestContext manifest;
  manifest.compilerVersion = "1.2";
  manifest.isas = {"x86-64-v3"};
  manifest.tokenizer = llvm::json::Object{{"kind", "none"}};
  auto text = buildManifest(*module, std::move(manifest));
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  auto parsed = llvm::json::parse(*text);
  ASSERT_TRUE(bool(parsed));
  auto expected = llvm::json::parse(
      R"({"heddle": "1.2", "model": {"name": "m", "family": "x"},
          "isas": ["x86-64-v3"], "options": {},
          "source": {"vocabulary": 9, "positions": 7, "types": 2, "pad": 0},
          "tasks": {"embed": {"max_tokens": 5, "prompt": "none",
            "prompts": {"query": "a \"q\": ", "none": ""}}, "generate": {
            "vocabulary": 8, "start": -1, "eos": [0, 2], "bad_words": [[1]],
            "length_factor": 2.5}},
          "tokenizer": {"kind": "none"},
          "entries": [{"name": "encode", "symbol": "f", "dims": ["batch"],
            "arguments": [{"name": "ids", "shape": ["batch", 4]}]}]})");
  ASSERT_TRUE(bool(expected));
  EXPECT_EQ(*parsed, *expected) << *text;
}

TEST_F(Manifest, NamesWhatTheModuleLacks) {
  EXPECT_EQ(check(""), "the module has no string 'transformer.family', "
                       "which a whole model has");
  EXPECT_EQ(check("transformer.family = \"x\""),
            "the module has no dictionary 'transformer.source'");
  const std::string model =
      "transformer.family = \"x\", transformer.source = {";
  EXPECT_EQ(check(model + "positions = 1 : i32}"),
            "'transformer.source' of the module needs a positive i32 "
            "'vocabulary'");
  EXPECT_EQ(check(model + "vocabulary = 1 : i32, positions = 0 : i32}"),
            "'transformer.source' of the module needs a positive i32 "
            "'positions'");
  EXPECT_EQ(check(model + "vocabulary = 1 : i32, odd = 1 : i32}"),
            "'transformer.source' of the module has the unknown key 'odd'");
  EXPECT_EQ(check(model + "vocabulary = 1 : i32}"),
            "the module has no dictionary 'transformer.tasks'");
  EXPECT_EQ(check(model + "vocabulary = 1 : i32}, transformer.tasks = {}"), "");
  EXPECT_EQ(
      check(model + "vocabulary = 1 : i32}, transformer.tasks = {sing = "
                    "{}}"),
      "'transformer.tasks' of the module has the task 'sing' with the "
      "value {} (supported: generate, embed, classify, tag, answer and fill, "
      "dictionaries)");
  EXPECT_EQ(check(model + "vocabulary = 1 : i32}, transformer.tasks = "
                          "{generate = {eos = array<i32>}}"),
            "the task 'generate' of the module needs a positive i32 "
            "'vocabulary'");
  EXPECT_EQ(checkGeneration("pad = 1 : i32"),
            "the task 'generate' of the module has no 'eos'");
}

TEST_F(Manifest, NamesWhatIsWrongWithSources) {
  auto checkSource = [&](const std::string &keys) {
    return check("transformer.family = \"x\", transformer.source = {vocabulary "
                 "= 9 : i32" +
                 keys + "}, transformer.tasks = {}");
  };
  EXPECT_EQ(
      checkSource(", positions = 7 : i32, types = 2 : i32, pad = 0 : i32"), "");
  EXPECT_EQ(checkSource(", types = 0 : i32"),
            "'transformer.source' of the module needs a positive i32 'types'");
  EXPECT_EQ(checkSource(", types = 2 : i64"),
            "'transformer.source' of the module needs a positive i32 'types'");
  for (const char *pad : {"-1 : i32", "1 : i64", "\"<pad>\""})
    EXPECT_EQ(checkSource(std::string(", pad = ") + pad),
              "'transformer.source' of the module has 'pad' with the value " +
                  std::string(pad) + ", expected an i32 of at least 0");
}

TEST_F(Manifest, NamesWhatIsWrongWithEmbedders) {
  auto checkEmbed = [&](const std::string &task) {
    return check("transformer.family = \"x\", transformer.source = {vocabulary "
                 "= 9 : i32}, transformer.tasks = {embed = " +
                 task + "}");
  };
  EXPECT_EQ(checkEmbed("{}"), "");
  EXPECT_EQ(checkEmbed("{max_tokens = 1 : i32, prompts = {}}"), "");
  EXPECT_EQ(checkEmbed("{prompts = {query = \"q: \", none = \"\"}, prompt = "
                       "\"none\"}"),
            "");
  EXPECT_EQ(checkEmbed("7 : i32"),
            "'transformer.tasks' of the module has the task 'embed' with the "
            "value 7 : i32 (supported: generate, embed, classify, tag, answer "
            "and fill, "
            "dictionaries)");
  for (const char *count : {"0 : i32", "7 : i64", "\"7\""})
    EXPECT_EQ(checkEmbed(std::string("{max_tokens = ") + count + "}"),
              "the task 'embed' of the module needs a positive i32 "
              "'max_tokens'");
  for (const char *prompts : {"[\"q\"]", "\"q\"", "{query = 7 : i32}"})
    EXPECT_EQ(checkEmbed(std::string("{prompts = ") + prompts + "}"),
              "the task 'embed' of the module has 'prompts' with the value " +
                  std::string(prompts) + ", expected a dictionary of strings");
  EXPECT_EQ(checkEmbed("{weights = \"log1p\"}"), "");
  for (const char *weights : {"\"log\"", "1 : i32"})
    EXPECT_EQ(checkEmbed(std::string("{weights = ") + weights + "}"),
              "the task 'embed' of the module has 'weights' with the value " +
                  std::string(weights) +
                  ", expected \"log1p\" or \"log1p_log1p\"");
  // The default is the name of a prompt, not its text.
  for (const char *task :
       {"{prompt = \"q\"}", "{prompts = {query = \"q\"}, prompt = \"q\"}",
        "{prompts = {}, prompt = \"q\"}"})
    EXPECT_EQ(checkEmbed(task),
              "the task 'embed' of the module has 'prompt' with the value "
              "\"q\", expected the name of one of its prompts");
  EXPECT_EQ(checkEmbed("{normalize = 1 : i32}"),
            "the task 'embed' of the module has the unknown key 'normalize'");
}

TEST_F(Manifest, NamesSettingsThatTheRuntimeWouldRefuse) {
  EXPECT_EQ(checkGeneration("eos = array<i32: 7>, pad = 100 : i32"), "");
  EXPECT_EQ(checkGeneration("eos = array<i32>"), "");
  EXPECT_EQ(checkGeneration("eos = array<i32: 8>"),
            "the task 'generate' of the module has 'eos' with the value "
            "array<i32: 8>, expected array<i32: ...> of ids from 0 to 7");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, start = -2 : i32"),
            "the task 'generate' of the module has 'start' with the value "
            "-2 : i32, expected an i32 from -1 to 7");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, start = 1 : i64"),
            "the task 'generate' of the module has 'start' with the value "
            "1 : i64, expected an i32 from -1 to 7");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, length_factor = -1.0 : f64"),
            "the task 'generate' of the module has 'length_factor' with "
            "the value -1.000000e+00 : f64, expected a positive float");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, early_stopping = \"shrink\", "
                            "word_penalty = -0.5 : f64, crop_source = 1 : i32"),
            "");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, early_stopping = \"soon\""),
            "the task 'generate' of the module has 'early_stopping' with "
            "the value \"soon\", expected \"true\", \"false\", \"never\" or "
            "\"shrink\"");
  // What the artifact's manifest would refuse is said of the module.
  const char *factor = "a float from 1.17549e-38 to 3.40282e+38";
  const char *number = "a float from -3.40282e+38 to 3.40282e+38";
  for (auto [key, value, expected] :
       {std::tuple("temperature", "1.000000e+39 : f64", factor),
        std::tuple("temperature", "1.000000e-40 : f64", factor),
        std::tuple("repetition_penalty", "1.000000e+308 : f64", factor),
        std::tuple("repetition_penalty", "0x7FF0000000000000 : f64", factor),
        std::tuple("length_penalty", "1.000000e+39 : f64", number),
        std::tuple("word_penalty", "-1.000000e+39 : f64", number),
        std::tuple("word_penalty", "0x7FF8000000000000 : f64", number),
        std::tuple("top_p", "1.500000e+00 : f64", "a float from 0 to 1"),
        std::tuple("beams", "257 : i32", "an i32 from 1 to 256"),
        std::tuple("crop_source", "2 : i32", "an i32 from 1 to 1"),
        std::tuple("pad", "2147483647 : i32", "an i32 from 0 to 2147483646"),
        std::tuple("min_length", "-1 : i32", "an i32 from 0 to 2147483647")})
    expectMismatch(key, value, expected);
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, length_penalty = -3.0e38 : "
                            "f64, temperature = 2.0e-38 : f64, min_length = 0 "
                            ": i32, beams = 256 : i32"),
            "");
  EXPECT_EQ(checkGeneration("eos = array<i32: 1>, begin = 1 : i32"),
            "the task 'generate' of the module has the unknown key "
            "'begin'");
}

} // namespace
