//===- MarianDecoderTests.cpp - Options of Marian's decoder ---------------===//
//
// Which of the decoder's options are settings, which are refused, and which
// files a folder means by them.
//
//===----------------------------------------------------------------------===//

#include "FileBuilders.h"
#include "lib/Import/Marian/MarianFolder.h"
#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {

/// The settings in options, or the sentence that refuses them.
std::string settingsOf(const std::string &options) {
  auto mapping = parseYaml(options, "d.yml");
  if (!mapping)
    return llvm::toString(mapping.takeError());
  auto decoder = readMarianDecoder(*mapping, "d.yml");
  if (!decoder)
    return llvm::toString(decoder.takeError());
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "beams " << decoder->beams << ", length "
         << llvm::format("%g", decoder->lengthPenalty) << ", word "
         << llvm::format("%g", decoder->wordPenalty) << ", factor "
         << llvm::format("%g", decoder->maxLengthFactor) << ", source "
         << decoder->maxSourceLength;
  stream << (decoder->cropsSources ? ", crop" : "")
         << (decoder->allowsUnknown ? ", unk" : "")
         << (decoder->allowsSpecial ? ", special" : "");
  for (const std::string &warning : decoder->warnings)
    stream << "; " << warning;
  return text;
}

const std::string kDefaults =
    "beams 12, length 0, word 0, factor 3, source 1000";

TEST(MarianDecoder, SettingsAreMariansAndSoAreDefaults) {
  EXPECT_EQ(settingsOf("models: [m.npz]\n"), kDefaults);
  EXPECT_EQ(settingsOf("beam-size: 6\nnormalize: 0.6\nword-penalty: -0.5\n"
                       "max-length-factor: 2\nmax-length: 50\n"
                       "max-length-crop: true\nallow-unk: yes\n"
                       "allow-special: True\n"),
            "beams 6, length 0.6, word -0.5, factor 2, source 50, crop, unk, "
            "special");
  EXPECT_EQ(settingsOf("allow-unk: false\nmax-length-crop: no\n"
                       "max-length: 1000\nnormalize: 0\n"),
            kDefaults);
}

TEST(MarianDecoder, ValuesThatMarianWouldNotRead) {
  auto expected = [](const std::string &option, const std::string &value,
                     const std::string &supported) {
    EXPECT_EQ(settingsOf(option + ": " + value + "\n"),
              "'d.yml' has the option '" + option + "' with the value '" +
                  value + "' (supported: " + supported + ")");
  };
  expected("beam-size", "0", "1 to 256");
  expected("beam-size", "257", "1 to 256");
  expected("beam-size", "12.0", "1 to 256");
  expected("normalize", "true", "a number that f32 holds");
  expected("normalize", "nan", "a number that f32 holds");
  expected("normalize", "[1]", "a number that f32 holds");
  expected("word-penalty", "1e300", "a number that f32 holds");
  expected("max-length-factor", "0", "a positive number");
  expected("max-length", "0", "1 to 2147483647");
  expected("max-length-crop", "maybe", "true, false");
  expected("allow-unk", "tRUE", "true, false");
  EXPECT_EQ(settingsOf("normalize: ~\n"),
            "'d.yml' has the option 'normalize' with the value '' (supported: "
            "a number that f32 holds)");
}

// What a decoder prints otherwise, what it reads otherwise, and what another
// search finds.
TEST(MarianDecoder, RefusesWhatChangesTranslations) {
  auto refused = [](const std::string &option, const std::string &value,
                    const std::string &supported) {
    EXPECT_EQ(settingsOf(option + ": " + value + "\n"),
              "'d.yml' has the option '" + option + "' with the value '" +
                  value + "' (supported: " + supported + ")");
  };
  refused("n-best", "true", "false; heddle-run --n-best N");
  refused("word-scores", "true", "false; heddle-run --n-best N --token-scores");
  refused("no-spm-decode", "true", "false; heddle-run --ids");
  refused("no-spm-encode", "true", "false; heddle-run --ids");
  refused("force-decode", "true", "false; heddle-run --prefix FILE");
  refused("output-sampling", "[topk, 10, 1.0]", "false; heddle-run --sample");
  refused("output-approx-knn", "[100, 1024]", "[]");
  refused("tsv", "true", "false");
  refused("ignore-model-config", "true", "false");
  refused("clip-gemm", "2.5", "0");
  refused("encryption-key-path", "key.txt", "");
  refused("weights", "[0.5, 0.5]", "1, of one model");
  refused("weights", "-1", "1, of one model");
  EXPECT_EQ(settingsOf("beam-size: 6\nskip-cost: true\n"),
            "'d.yml' has the option 'skip-cost' with the value 'true' "
            "(supported: false with beam-size 6)");
  EXPECT_EQ(settingsOf("beamsize: 6\n"),
            "'d.yml' has the unknown option 'beamsize' with the value '6' "
            "(is 'beam-size' meant?)");
  EXPECT_EQ(settingsOf("learn-rate: 0.1\n"),
            "'d.yml' has the unknown option 'learn-rate' with the value '0.1'");
}

TEST(MarianDecoder, ValuesThatChangeNothing) {
  EXPECT_EQ(settingsOf("n-best: false\nword-scores: off\ntsv: False\n"
                       "clip-gemm: 0.0\noutput-sampling: []\nweights: [1.0]\n"
                       "output-approx-knn: ~\nencryption-key-path: \"\"\n"
                       "force-decode: n\nignore-model-config: false\n"),
            kDefaults);
  EXPECT_EQ(settingsOf("beam-size: 1\nskip-cost: true\nnormalize: 1\n"),
            "beams 1, length 1, word 0, factor 3, source 1000");
  // One of each table.
  EXPECT_EQ(settingsOf("transformer-heads: 8\ngemm-precision: int8shift\n"
                       "fp16: true\nmini-batch: 64\ndevices: [0]\n"
                       "workspace: -4000\nquiet: true\nseed: 1234\n"
                       "relative-paths: true\nnum-threads: 4\n"
                       "alignment: \"\"\nssplit-mode: sentence\n"),
            kDefaults);
}

TEST(MarianDecoder, WarnsOfWhatIsMissed) {
  EXPECT_EQ(settingsOf("alignment: soft\nmax-length-break: 128\n"),
            kDefaults +
                "; 'd.yml' has the option 'alignment' with the value 'soft', "
                "which has no effect: heddle-run --alignments prints them; "
                "'d.yml' has "
                "the option 'max-length-break' with the value '128', which has "
                "no effect: longer lines are not broken into parts");
  EXPECT_EQ(settingsOf("ssplit-mode: paragraph\n"),
            kDefaults +
                "; 'd.yml' has the option 'ssplit-mode' with the value "
                "'paragraph', which has no effect: a line is a sentence unless "
                "heddle-run has --split");
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// A folder with a model, a vocabulary, a shortlist and these options, if any.
std::string describeFolder(const std::string &config,
                           const std::string &name = "config.yml") {
  TemporaryFolder folder;
  for (const char *file : {"model.x.npz", "vocab.x.spm", "lex.x.bin"})
    folder.write(file, "");
  if (!config.empty())
    folder.write(name, config);
  auto files = readMarianFolder(folder.path());
  if (!files)
    return llvm::toString(files.takeError()).substr(folder.path().size());
  auto nameOf = [&](const std::string &path) {
    return path.empty() ? "none" : path.substr(folder.path().size() + 1);
  };
  return nameOf(files->model) + " " + nameOf(files->sourceVocabulary) + " " +
         nameOf(files->shortlist) + " " + std::to_string(files->decoder.beams) +
         " " + std::to_string(int(files->decoder.lengthPenalty));
}

TEST(MarianFolder, WithoutOptionsItRunsAsInBrowsers) {
  EXPECT_EQ(describeFolder(""), "model.x.npz vocab.x.spm lex.x.bin 1 1");
}

TEST(MarianFolder, OptionsSayWhetherThereIsAShortlist) {
  EXPECT_EQ(describeFolder("beam-size: 1\n"),
            "model.x.npz vocab.x.spm none 1 0");
  EXPECT_EQ(describeFolder("beam-size: 1\n", "decoder.yml"),
            "model.x.npz vocab.x.spm none 1 0");
  EXPECT_EQ(describeFolder("shortlist: [lex.x.bin, false]\n"),
            "model.x.npz vocab.x.spm lex.x.bin 12 0");
  EXPECT_EQ(describeFolder("shortlist:\n  - ./lex.x.bin\n"),
            "model.x.npz vocab.x.spm lex.x.bin 12 0");
  for (const char *none : {"shortlist: []\n", "shortlist: ~\n",
                           "shortlist: \"\"\n", "shortlist:\n"})
    EXPECT_EQ(describeFolder(none), "model.x.npz vocab.x.spm none 12 0");
}

} // namespace
