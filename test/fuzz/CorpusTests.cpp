//===- CorpusTests.cpp - What fuzzers found, once more --------------------===//
//
// Every input of corpus/ goes through the function that its fuzzer calls, in an
// ordinary build. What an input must not do - crash, hang - shows as the death
// of the test, which has said the input's name.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#define HEDDLE_EACH_FUZZER(DO)                                                 \
  DO(api)                                                                      \
  DO(artifact)                                                                 \
  DO(checkpoint)                                                               \
  DO(code)                                                                     \
  DO(config)                                                                   \
  DO(ctranslate2_folder)                                                       \
  DO(embedder)                                                                 \
  DO(manifest)                                                                 \
  DO(marian)                                                                   \
  DO(marian_folder)                                                            \
  DO(module)                                                                   \
  DO(npz)                                                                      \
  DO(stages)                                                                   \
  DO(safetensors)                                                              \
  DO(sentencepiece)                                                            \
  DO(shortlist)                                                                \
  DO(tokenizer)                                                                \
  DO(torch)                                                                    \
  DO(yaml)

#define HEDDLE_DECLARE(name)                                                   \
  extern "C" int heddle_replay_##name(const uint8_t *, size_t);
HEDDLE_EACH_FUZZER(HEDDLE_DECLARE)

namespace {
namespace fs = std::filesystem;

struct Fuzzer {
  std::string name;
  int (*replay)(const uint8_t *, size_t);
};
void PrintTo(const Fuzzer &fuzzer, std::ostream *out) { *out << fuzzer.name; }

/// Folders have hyphens.
std::string folderOf(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

#define HEDDLE_LIST(name) {#name, heddle_replay_##name},
const Fuzzer kFuzzers[] = {HEDDLE_EACH_FUZZER(HEDDLE_LIST)};

class Corpus : public testing::TestWithParam<Fuzzer> {};

TEST_P(Corpus, IsSurvived) {
  const Fuzzer &fuzzer = GetParam();
  std::error_code none;
  for (const fs::directory_entry &file : fs::directory_iterator(
           HEDDLE_CORPUS "/" + folderOf(fuzzer.name), none)) {
    std::cout << file.path().string() << std::endl;
    std::ostringstream content;
    content << std::ifstream(file.path(), std::ios::binary).rdbuf();
    std::string bytes = content.str();
    EXPECT_EQ(fuzzer.replay(reinterpret_cast<const uint8_t *>(bytes.data()),
                            bytes.size()),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzzers, Corpus, testing::ValuesIn(kFuzzers),
                         [](const auto &info) { return info.param.name; });

TEST(CorpusFolders, BelongToFuzzers) {
  for (const fs::directory_entry &folder :
       fs::directory_iterator(HEDDLE_CORPUS))
    EXPECT_TRUE(std::any_of(std::begin(kFuzzers), std::end(kFuzzers),
                            [&](const Fuzzer &fuzzer) {
                              return folderOf(fuzzer.name) ==
                                     folder.path().filename();
                            }))
        << folder.path();
}

} // namespace
