//===- MarianOptionsTests.cpp - YAML, and the options of Marian -----------===//

#include "FileBuilders.h"
#include "lib/Import/Marian/MarianOptions.h"
#include "lib/Import/Marian/Yaml.h"
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
                  "' (supported: v1.10.28 and earlier or v1.10.42 and later, "
                  "which preprocess self-attention differently)");
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

} // namespace
